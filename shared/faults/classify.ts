import { type Fault, isFault } from "./fault.ts";
import type { FailureClass } from "./failure-class.ts";

/** What an error says about one call, before anybody decides. */
export interface Classified {
  readonly failureClass: FailureClass;
  /** Short and stable: goes into records and facts. */
  readonly code: string;
  readonly httpStatus: number | undefined;
  /** From the server's `retry-after`, milliseconds from the answer. */
  readonly retryAfterMs: number | undefined;
}

/** Causes are followed this deep: SDKs wrap the socket's error once or twice. */
const causeDepthMax = 5;

/** Never reached the other side. From Node's system error codes. */
const neverConnected = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "CERT_HAS_EXPIRED",
]);

/**
 * Total and pessimistic: an unfamiliar error is `unknown`, which for a write means that it may have happened.
 * 409 is unknown too: it often says that an earlier attempt is still at work.
 */
export function classifyError(error: unknown): Classified {
  if (isFault(error)) return ofFault(error);
  const chain = causesOf(error);
  const status = first(chain, statusOf);
  const retryAfterMs = first(chain, retryAfterOf);
  const code = first(chain, codeOf);
  if (status !== undefined) {
    return { failureClass: classOfStatus(status), code: `http_${status}`, httpStatus: status, retryAfterMs };
  }
  if (code !== undefined && neverConnected.has(code)) {
    return { failureClass: "retryable", code: code.toLowerCase(), httpStatus: undefined, retryAfterMs };
  }
  return { failureClass: "unknown", code: code?.toLowerCase() ?? nameOf(error), httpStatus: undefined, retryAfterMs };
}

/** 429 and 503 are refusals before work; 500, 502, 504 and 408 may follow it. */
export function classOfStatus(status: number): FailureClass {
  if (status === 429 || status === 503) return "retryable";
  if (status === 408 || status === 409 || status >= 500) return "unknown";
  return status >= 400 ? "final" : "unknown";
}

const ofFault = (fault: Fault): Classified => ({
  failureClass: fault.failureClass,
  code: fault.code,
  httpStatus: undefined,
  retryAfterMs: undefined,
});

type Bag = Readonly<Record<string, unknown>>;
const isBag = (value: unknown): value is Bag => typeof value === "object" && value !== null;

function causesOf(error: unknown): readonly Bag[] {
  const chain: Bag[] = [];
  let current: unknown = error;
  while (isBag(current) && chain.length < causeDepthMax && !chain.includes(current)) {
    chain.push(current);
    current = current["cause"] ?? current["detail"] ?? current["lastError"];
  }
  return chain;
}

function first<T>(chain: readonly Bag[], read: (bag: Bag) => T | undefined): T | undefined {
  for (const bag of chain) {
    const value = read(bag);
    if (value !== undefined) return value;
  }
  return undefined;
}

function statusOf(bag: Bag): number | undefined {
  const metadata = bag["$metadata"];
  const candidates = [bag["statusCode"], bag["status"], isBag(metadata) ? metadata["httpStatusCode"] : undefined];
  return candidates.find((value): value is number => typeof value === "number" && value >= 100 && value <= 599);
}

const codeOf = (bag: Bag): string | undefined => (typeof bag["code"] === "string" ? bag["code"] : undefined);

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : `thrown_${typeof error}`);

/** Seconds only: the HTTP date form needs the other side's clock. */
function retryAfterOf(bag: Bag): number | undefined {
  for (const headers of [bag["headers"], bag["responseHeaders"], bag["rawHeaders"]]) {
    if (!isBag(headers)) continue;
    const value = headers instanceof Headers ? headers.get("retry-after") : headers["retry-after"];
    const secondsAsked = Number(value ?? Number.NaN);
    if (Number.isFinite(secondsAsked) && secondsAsked >= 0) return secondsAsked * 1_000;
  }
  return undefined;
}
