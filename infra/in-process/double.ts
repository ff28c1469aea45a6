import type { DurationMs } from "../../shared/agent/duration.ts";
import type { LookupAnswer } from "../../shared/agent/tool.ts";
import type { Capability } from "../../shared/ledger/ledger-entry.ts";
import { canonicalJson } from "../../shared/operation/canonical-json.ts";
import { httpError } from "./fault-errors.ts";
import type { MakeStandIn, Outside, StandIn, StandInCall } from "./stand-in.ts";

/** Something that happened at a double. */
export interface Made {
  /** The idempotency key. */
  readonly key: string;
  /** 1 for the first effect at this double. */
  readonly n: number;
}

/** What the other side answers: always the same, or made of the request. */
type Answer<Request, Result> = Result | ((request: Request, made: Made) => Result);

/** The other side of a write tool, as a stand-in that counts for itself. */
export interface ToolDouble {
  readonly capability: Capability;
  /** How long it remembers a key. */
  readonly windowMs: DurationMs | undefined;
  /** It may offer less than the tool declares: that is what the test is about. */
  readonly evenIfWeaker: boolean;
  readonly make: MakeStandIn;
}

interface DoubleOptions<Request, Result> {
  readonly result: Answer<Request, Result>;
  /** What happened shows up in a lookup only this much later. @default at once */
  readonly visibleAfter?: DurationMs;
  /** @default false: one that offers less than its tool declares is refused as a mistake */
  readonly evenIfWeaker?: boolean;
}

interface Happened {
  readonly key: string;
  readonly request: string;
  readonly result: unknown;
  readonly atMs: number;
}

/** Other sides by what they can tell. Each world of a double is empty: it remembers nothing of another's. */
export const double = {
  /** Dedupes by key for `window`, as a payment provider does: the first result again, and a refusal for another request under the same key. */
  key: <Request = never, Result = unknown>(
    options: DoubleOptions<Request, Result> & { readonly window: DurationMs },
  ): ToolDouble => of("key", options, options.window),
  /** Knows no keys, and can be asked. */
  query: <Request = never, Result = unknown>(options: DoubleOptions<Request, Result>): ToolDouble =>
    of("query", options, undefined),
  /** Neither: a request that arrives is an effect, and nobody can ask. */
  none: <Request = never, Result = unknown>(
    options: Omit<DoubleOptions<Request, Result>, "visibleAfter">,
  ): ToolDouble => of("none", options, undefined),
};

function of<Request, Result>(
  capability: Capability,
  { result, visibleAfter = 0, evenIfWeaker = false }: DoubleOptions<Request, Result>,
  windowMs: DurationMs | undefined,
): ToolDouble {
  const make: MakeStandIn = (tool, outside) => otherSide(tool, outside, { capability, result, visibleAfter, windowMs });
  return { capability, windowMs, evenIfWeaker, make };
}

interface OtherSide {
  readonly capability: Capability;
  readonly result: unknown;
  readonly visibleAfter: DurationMs;
  readonly windowMs: DurationMs | undefined;
}

function otherSide(
  tool: string,
  { journal, nowMs, startMs }: Outside,
  { capability, result, visibleAfter, windowMs }: OtherSide,
): StandIn {
  const happened: Happened[] = [];
  const remembered = (key: string): Happened | undefined =>
    windowMs === undefined ? undefined : happened.findLast((one) => one.key === key && nowMs() < one.atMs + windowMs);

  const execute = (request: unknown, { key = "" }: StandInCall): unknown => {
    const text = canonicalJson(request);
    const known = remembered(key);
    if (known) {
      if (known.request !== text) throw httpError(400);
      return known.result;
    }
    const made: Made = { key, n: happened.length + 1 };
    // Any function: what a double answers is data, and data holds none.
    const answer: unknown =
      typeof result === "function" ? (result as (...args: unknown[]) => unknown)(request, made) : result;
    happened.push({ key, request: text, result: answer, atMs: nowMs() });
    journal.happened({ tool, key, request, result: answer, atMs: nowMs() - startMs });
    return answer;
  };
  const lookup = (_request: unknown, { key }: StandInCall): LookupAnswer<unknown> => {
    const found = happened.find((one) => one.key === key && nowMs() >= one.atMs + visibleAfter);
    return found ? { found: found.result } : "not_found";
  };
  return { execute, countsEffects: true, ...(capability !== "none" && { lookup }) };
}
