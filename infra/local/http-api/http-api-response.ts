import { z } from "zod";

export interface HttpResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
}

const Structured = z.object({
  statusCode: z.coerce.number().int().min(100).max(599),
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String)).nullish(),
  cookies: z.array(z.string()).nullish(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().nullish(),
});

/** Reads a function's answer as API Gateway does: with a status code it describes a response, without one it *is* the body.
 *  @returns undefined where it has a status code but is no valid response; AWS answers 500 then. */
export function toHttpResponse(payload: unknown): HttpResponse | undefined {
  if (!isObject(payload) || !("statusCode" in payload)) {
    const body = typeof payload === "string" ? payload : JSON.stringify(payload);
    return { statusCode: 200, headers: { "content-type": "application/json" }, body: Buffer.from(body) };
  }
  const parsed = Structured.safeParse(payload);
  if (!parsed.success) return undefined;
  const { statusCode, headers, cookies, body, isBase64Encoded } = parsed.data;
  return {
    statusCode,
    headers: {
      "content-type": "text/plain;charset=UTF-8",
      ...Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])),
      ...(cookies && cookies.length > 0 && { "set-cookie": cookies }),
    },
    body: Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8"),
  };
}

/** How API Gateway words its own refusals. */
export function gatewayMessage(statusCode: number, message: string): HttpResponse {
  return {
    statusCode,
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify({ message })),
  };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
