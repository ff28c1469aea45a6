import { z } from "zod";
import { FailureClass } from "./failure-class.ts";

/** Ids, codes and counts that explain a fault. They are stored and shown, so they never hold payloads or secrets. */
export type FaultFacts = Readonly<Record<string, string | number | boolean>>;

export interface FaultOptions {
  readonly facts?: FaultFacts;
  readonly cause?: unknown;
  /** Earliest time of the next attempt, epoch milliseconds: a server's `retry-after`. A floor, even above the policy's cap. */
  readonly notBeforeMs?: number;
}

/** How a fault lies in the tables. An unknown `code` stays as it is and never turns into a neighbour. */
export const FaultRecord = z.object({
  code: z.string(),
  failure_class: FailureClass,
  message: z.string(),
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
});
export type FaultRecord = z.infer<typeof FaultRecord>;

/** Characters of a text that are stored: enough for a provider's answer, far below the item limit. */
const storedCharsMax = 2_000;

/** Cut without leaving half a character: DynamoDB stores UTF-8, which has no word for it. */
const cut = (text: string): string =>
  text.length <= storedCharsMax ? text : text.slice(0, storedCharsMax).replace(/[\uD800-\uDBFF]$/, "");

/** A fact in a form that a table takes: DynamoDB's client refuses NaN, infinities and integers it cannot hold exactly. */
function storedFact(fact: FaultFacts[string]): FaultFacts[string] {
  if (typeof fact === "string") return cut(fact);
  if (typeof fact === "boolean") return fact;
  return Math.abs(fact) <= Number.MAX_SAFE_INTEGER ? fact : String(fact);
}

/**
 * The one base of everything this package throws on purpose. Callers branch on `code`; a subclass exists only where it is caught.
 * `message` says what was expected, what came, and what to do next.
 */
export class Fault extends Error {
  override readonly name: string = "SurefootFault";
  readonly code: string;
  readonly failureClass: FailureClass;
  readonly facts: FaultFacts;
  readonly notBeforeMs: number | undefined;

  constructor(code: string, failureClass: FailureClass, message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.failureClass = failureClass;
    this.facts = options.facts ?? {};
    this.notBeforeMs = options.notBeforeMs;
  }

  toRecord(): FaultRecord {
    return {
      code: this.code,
      failure_class: this.failureClass,
      message: cut(this.message),
      facts: Object.fromEntries(Object.entries(this.facts).map(([name, fact]) => [name, storedFact(fact)])),
    };
  }

  static fromRecord(record: FaultRecord): Fault {
    return new Fault(record.code, record.failure_class, record.message, { facts: record.facts });
  }
}

export const isFault = (error: unknown): error is Fault => error instanceof Fault;
