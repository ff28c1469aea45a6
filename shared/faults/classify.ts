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
/** Characters of a code: it goes into records, and a hostile one must not outgrow them. */
const codeCharsMax = 100;
/** A `retry-after` beyond this is cut. Step Functions ends an execution after a year; a floor past the calendar's end could not be stored. */
const retryAfterMsMax = 365 * 24 * 3_600_000;

/** Never reached the other side, unless an open connection says so. From Node's system error codes. */
const neverConnected = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "CERT_HAS_EXPIRED",
]);
/** A lost route also ends open connections with these codes, and then the request may have left. */
const onOpenConnection = new Set<unknown>(["read", "write"]);

/**
 * Total and pessimistic: an unfamiliar error is `unknown`, which for a write means that it may have happened.
 * 409 is unknown too: it often says that an earlier attempt is still at work.
 */
export function classifyError(error: unknown): Classified {
  try {
    return isFault(error) ? ofFault(error) : ofForeign(error);
  } catch {
    // A getter or proxy that throws when it is looked at.
    return { failureClass: "unknown", code: "unreadable", httpStatus: undefined, retryAfterMs: undefined };
  }
}

function ofForeign(error: unknown): Classified {
  const chain = causesOf(error);
  const status = first(chain, statusOf);
  const retryAfterMs = first(chain, retryAfterOf);
  const code = first(chain, codeOf);
  const neverSent =
    code !== undefined && neverConnected.has(code) && !chain.some((bag) => onOpenConnection.has(bag["syscall"]));
  if (status !== undefined) {
    return { failureClass: classOfStatus(status), code: `http_${status}`, httpStatus: status, retryAfterMs };
  }
  if (neverSent) {
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
  return candidates.find(isStatus);
}
const isStatus = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 100 && value <= 599;

const codeOf = (bag: Bag): string | undefined => textOf(bag["code"]);

const nameOf = (error: unknown): string =>
  (error instanceof Error ? textOf(error.name) : undefined) ?? `thrown_${typeof error}`;

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value.slice(0, codeCharsMax) : undefined;

/** Seconds only: the HTTP date form needs the other side's clock. */
function retryAfterOf(bag: Bag): number | undefined {
  for (const headers of [bag["headers"], bag["responseHeaders"], bag["rawHeaders"]]) {
    if (!isBag(headers)) continue;
    const header = headers instanceof Headers ? headers.get("retry-after") : headers["retry-after"];
    const value: unknown = Array.isArray(header) ? header[0] : header;
    const isNumber = typeof value === "number" || (typeof value === "string" && value.trim() !== "");
    const secondsAsked = isNumber ? Number(value) : Number.NaN;
    if (Number.isFinite(secondsAsked) && secondsAsked >= 0) return Math.min(secondsAsked * 1_000, retryAfterMsMax);
  }
  return undefined;
}
