import { textBytes, type Json } from "./json.ts";
import { StateFailure } from "./state-failure.ts";

/** Documented quota: input or result of a state or an execution, as UTF-8 text. */
export const PAYLOAD_BYTES_MAX = 262_144;

/** The JSON text of what a state takes or gives. @throws StateFailure `States.DataLimitExceeded` above the quota. */
export function textWithinLimit(stateName: string, data: Json): string {
  const text = JSON.stringify(data);
  const bytes = textBytes(text);
  if (bytes > PAYLOAD_BYTES_MAX) {
    throw new StateFailure(
      "States.DataLimitExceeded",
      `The state/task '${stateName}' returned a result with a size exceeding the maximum number of bytes service limit: expected at most ${PAYLOAD_BYTES_MAX}, found ${bytes}`,
    );
  }
  return text;
}
