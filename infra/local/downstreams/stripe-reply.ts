import { randomUUID } from "node:crypto";
import type { Exchange } from "./http-server.ts";

/** A response as Stripe's API gives it. */
export interface StripeReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface StripeErrorFacts {
  readonly type?: "invalid_request_error" | "idempotency_error" | "api_error";
  readonly code?: string;
  readonly param?: string;
  readonly message: string;
}

/** Error body as documented at https://docs.stripe.com/api/errors. @default type "invalid_request_error" */
export function stripeError(status: number, facts: StripeErrorFacts): StripeReply {
  return { status, body: { error: { type: "invalid_request_error", ...facts } } };
}

/** What a fault answers: the shape the real server gives for that status. */
export function stripeFaultReply(status: number, retryAfterSeconds: number | undefined): StripeReply {
  const reply =
    status === 429
      ? stripeError(status, { code: "rate_limit", message: "Too many requests hit the API too quickly." })
      : stripeError(status, {
          type: status >= 500 ? "api_error" : "invalid_request_error",
          message: `An injected fault answered with ${status}.`,
        });
  return retryAfterSeconds === undefined ? reply : { ...reply, headers: { "retry-after": `${retryAfterSeconds}` } };
}

export function stripeList(
  url: string,
  matches: readonly { readonly id: string }[],
  query: URLSearchParams,
): StripeReply {
  const asked = Number(query.get("limit") ?? "10");
  // 1 to 100, default 10: https://docs.stripe.com/api/pagination
  if (!Number.isInteger(asked) || asked < 1 || asked > 100) {
    return stripeError(400, { param: "limit", code: "parameter_invalid_integer", message: "limit is 1 to 100." });
  }
  const after = query.get("starting_after");
  const from = after === null ? 0 : matches.findIndex(({ id }) => id === after) + 1;
  if (after !== null && from === 0) return stripeMissing("object", after, "starting_after");
  const data = matches.slice(from, from + asked);
  return { status: 200, body: { object: "list", url, has_more: from + asked < matches.length, data } };
}

export function stripeMissing(kind: string, id: string, param: string): StripeReply {
  return stripeError(404, { code: "resource_missing", param, message: `No such ${kind}: '${id}'` });
}

export function newRequestId(): string {
  return `req_${randomUUID().replaceAll("-", "").slice(0, 14)}`;
}

export function idempotencyKey({ headers }: Exchange): string | undefined {
  const header = headers["idempotency-key"];
  return Array.isArray(header) ? header[0] : header;
}
