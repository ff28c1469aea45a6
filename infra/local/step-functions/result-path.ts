import type { Json } from "./json.ts";
import { parsePath, writePath } from "./json-path.ts";
import { StateFailure } from "./state-failure.ts";

/** Combines a result with the state's raw input. Absent or `$`: the result replaces it. `null`: the result is dropped.
 *  @throws StateFailure `States.ResultPathMatchFailure` where the input has no place for it. */
export function applyResultPath(resultPath: string | null | undefined, rawInput: Json, result: Json): Json {
  if (resultPath === null) return rawInput;
  const combined = writePath(parsePath(resultPath ?? "$"), rawInput, result);
  if (combined === undefined) {
    throw new StateFailure(
      "States.ResultPathMatchFailure",
      `Unable to apply ReferencePath ${resultPath} to input ${JSON.stringify(rawInput)}`,
    );
  }
  return combined;
}
