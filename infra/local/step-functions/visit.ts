import type { JsonObject } from "./json.ts";
import type { Thread } from "./thread.ts";

/** One stay in a state: from its entered event to its exit, retries included. */
export interface Visit {
  readonly name: string;
  readonly thread: Thread;
  readonly enteredEventId: number;
  /** ISO 8601, as `$$.State.EnteredTime` shows it. */
  readonly enteredTime: string;
  retryCount: number;
}

/** The context object (`$$`) as the state sees it now. */
export function contextOf(visit: Visit, token?: string): JsonObject {
  return {
    ...visit.thread.run.context,
    State: { EnteredTime: visit.enteredTime, Name: visit.name, RetryCount: visit.retryCount },
    ...(token === undefined ? {} : { Task: { Token: token } }),
  };
}
