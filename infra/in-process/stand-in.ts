import type { LookupAnswer } from "../../shared/agent/tool.ts";
import type { Journal } from "./journal.ts";

/** One call of a tool, as whatever takes the place of its code sees it. */
export interface StandInCall {
  /** The idempotency key. Absent where the tool only reads. */
  readonly key: string | undefined;
  readonly signal: AbortSignal;
}

/** What takes the place of a tool's own code in one world. */
export interface StandIn {
  readonly execute: (request: unknown, call: StandInCall) => unknown;
  /** Answers in the place of the tool's lookup. Without one the tool's own is asked. */
  readonly lookup?: (request: unknown, call: StandInCall) => LookupAnswer<unknown>;
  /** True where it says itself what happened; else whatever returned has happened. */
  readonly countsEffects?: boolean;
}

/** What a stand-in is given of its world. */
export interface Outside {
  readonly journal: Journal;
  /** Of the time that passes, epoch milliseconds. */
  readonly nowMs: () => number;
  readonly startMs: number;
}

/** Makes the stand-in of a tool, anew for each world: no state survives from one case to the next. */
export type MakeStandIn = (tool: string, outside: Outside) => StandIn;
