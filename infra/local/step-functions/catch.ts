import { matchesError } from "./error-names.ts";
import type { Json } from "./json.ts";
import { applyResultPath } from "./result-path.ts";
import type { Catcher } from "./state-schema.ts";
import type { StateFailure } from "./state-failure.ts";

export function findCatcher(catchers: readonly Catcher[], error: string): Catcher | undefined {
  return catchers.find((catcher) => matchesError(catcher.ErrorEquals, error));
}

/** What the catcher's next state receives: the failed state's raw input with `{ Error, Cause }` at ResultPath. */
export function caughtOutput(catcher: Catcher, rawInput: Json, failure: StateFailure): Json {
  return applyResultPath(catcher.ResultPath, rawInput, { Error: failure.error, Cause: failure.causeText });
}
