/** The reserved names this engine can report or match. Others that begin with `States.` would never match anything here
 *  and are refused in a definition (a failed branch, for one, is reported under its own error and not as BranchFailed). */
export const KNOWN_STATES_ERRORS = [
  "States.ALL",
  "States.DataLimitExceeded",
  "States.HeartbeatTimeout",
  "States.NoChoiceMatched",
  "States.ResultPathMatchFailure",
  "States.Runtime",
  "States.TaskFailed",
  "States.Timeout",
] as const;

/** Whether a Retry or Catch entry is for this error.
 *  `States.Runtime` always ends the execution; `States.DataLimitExceeded` needs its own name; a missed heartbeat is also
 *  a timeout. Source: Step Functions developer guide, "Handling errors in Step Functions workflows". */
export function matchesError(errorEquals: readonly string[], error: string): boolean {
  if (error === "States.Runtime") return false;
  const wildcardsApply = error !== "States.DataLimitExceeded";
  return errorEquals.some((name) => {
    switch (name) {
      case "States.ALL":
        return wildcardsApply;
      case "States.TaskFailed":
        return wildcardsApply && error !== "States.Timeout";
      case "States.Timeout":
        return error === "States.Timeout" || error === "States.HeartbeatTimeout";
      default:
        return name === error;
    }
  });
}
