import { createHash } from "node:crypto";
import { stripeError, type StripeReply } from "./stripe-reply.ts";

export interface RefundRequest {
  readonly paymentId: string;
  /** Undefined: whatever is left. */
  readonly amountCents: number | undefined;
  readonly reason: string | null;
  readonly metadata: Record<string, string>;
  /** Equal for equal parameters in any order: what an idempotency key is bound to. */
  readonly fingerprint: string;
}

const REASONS = ["duplicate", "fraudulent", "requested_by_customer"];
const PARAMETERS = /^(payment_intent|amount|reason|metadata\[[^\]]+\]|expand\[\d*\])$/;

/** Reads the form body of `POST /v1/refunds`. A refusal here comes before the endpoint runs, so no key remembers it. */
export function readRefundRequest(body: string): RefundRequest | { readonly refusal: StripeReply } {
  const form = new URLSearchParams(body);
  const refuse = (param: string, code: string, message: string) => ({
    refusal: stripeError(400, { param, code, message }),
  });

  for (const name of form.keys()) {
    if (!PARAMETERS.test(name)) return refuse(name, "parameter_unknown", `Received unknown parameter: ${name}`);
  }
  const paymentId = form.get("payment_intent");
  if (paymentId === null || paymentId === "") {
    return refuse("payment_intent", "parameter_missing", "Missing required param: payment_intent.");
  }
  const amount = form.get("amount");
  if (amount !== null && !/^[1-9]\d*$/.test(amount)) {
    return refuse("amount", "parameter_invalid_integer", `Invalid positive integer: ${amount}`);
  }
  const reason = form.get("reason");
  if (reason !== null && !REASONS.includes(reason)) {
    return refuse("reason", "parameter_invalid", `Invalid reason: must be one of ${REASONS.join(", ")}`);
  }
  const metadata: Record<string, string> = {};
  for (const [name, value] of form) {
    const key = /^metadata\[([^\]]+)\]$/.exec(name)?.[1];
    if (key !== undefined) metadata[key] = value;
  }
  const sorted = JSON.stringify([...form].map((pair) => JSON.stringify(pair)).sort());
  return {
    paymentId,
    amountCents: amount === null ? undefined : Number(amount),
    reason,
    metadata,
    fingerprint: createHash("sha256").update(sorted).digest("hex"),
  };
}
