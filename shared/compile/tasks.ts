import { lambdaInvoke, lambdaInvokeAndWait, type TaskState } from "./asl.ts";
import type { CompileSettings } from "./compile-settings.ts";
import { genericRetry } from "./retry-policy.ts";

/** The Task states, by the function that they invoke. Each is told which run, where, and which execution asks. Never user data. */

const ids = { "run_id.$": "$.run_id", "position.$": "$.position", "execution.$": "$$.Execution.Name" } as const;

/** What a line and an expiry answer: ids again. */
const answer = {
  "run_id.$": "$.Payload.run_id",
  "position.$": "$.Payload.position",
  "next.$": "$.Payload.next",
} as const;

/** Seconds by which a state's own timeout outlives what it backs up: the function's kill, or the recorded expiry. */
export const backstopSeconds = 10;
/** Functions without agent code: a few reads and writes. */
const shortTaskSeconds = 60;
/** Step Functions' limit on TimeoutSeconds. */
const stateTimeoutSecondsMax = 99_999_999;

type Way = { readonly Next: string } | { readonly End: true };

/** Runs agent code, up to the function's own timeout. */
export const stepTask = (
  { line, comment }: { readonly line: string; readonly comment: string },
  { stepTimeoutSeconds }: CompileSettings,
  { Retry, Catch, way }: Required<Pick<TaskState, "Retry" | "Catch">> & { readonly way: Way },
): TaskState => ({
  Type: "Task",
  Comment: comment,
  Resource: lambdaInvoke,
  Parameters: { FunctionName: "${StepFunctionArn}", Payload: { ...ids, line } },
  ResultSelector: answer,
  TimeoutSeconds: stepTimeoutSeconds + backstopSeconds,
  Retry,
  Catch,
  ...way,
});

/** Waits where a line left a waiter, for `seconds` at most. */
export const waitTask = (
  { line, comment, seconds }: { readonly line: string; readonly comment: string; readonly seconds: number },
  { Catch, Next }: Required<Pick<TaskState, "Catch" | "Next">>,
): TaskState => ({
  Type: "Task",
  Comment: comment,
  Resource: lambdaInvokeAndWait,
  Parameters: {
    FunctionName: "${WaitFunctionArn}",
    Payload: { ...ids, line, action: "ask", "task_token.$": "$$.Task.Token" },
  },
  ResultPath: null,
  TimeoutSeconds: Math.min(seconds, stateTimeoutSecondsMax),
  Retry: genericRetry,
  Catch,
  Next,
});

/** Records that a wait is over, unless its answer was first. */
export const expireTask = (line: string, { Catch, Next }: Required<Pick<TaskState, "Catch" | "Next">>): TaskState => ({
  Type: "Task",
  Comment: "Records the expiry unless an answer was first: the log decides.",
  Resource: lambdaInvoke,
  Parameters: { FunctionName: "${WaitFunctionArn}", Payload: { ...ids, line, action: "expire" } },
  ResultSelector: answer,
  TimeoutSeconds: shortTaskSeconds,
  Retry: genericRetry,
  Catch,
  Next,
});

/** Waits for a person who finds out what happened, then the ledger decides. */
export const resolveTask = (
  line: string,
  { resolutionWaitSeconds }: CompileSettings,
  way: Required<Pick<TaskState, "Catch" | "Next">>,
): TaskState => {
  const comment = "An effect may or may not have happened: waits for a person, then the ledger decides.";
  return waitTask({ line, comment, seconds: resolutionWaitSeconds }, way);
};

/** Where the settle function says what follows, for states that may go on: `$.settled.next`. */
export const settledNext = "$.settled.next";

/** Records why the run stopped. With `mayCompensate` it may also say that the run is compensated first. */
export const settleTask = (
  mayCompensate: boolean,
  { Catch, Next }: Required<Pick<TaskState, "Catch" | "Next">>,
): TaskState => ({
  Type: "Task",
  Comment: "Records why the run stopped. The run is parked or failed, never lost.",
  Resource: lambdaInvoke,
  Parameters: {
    FunctionName: "${SettleFunctionArn}",
    Payload: {
      "run_id.$": "$.run_id",
      "execution.$": "$$.Execution.Name",
      "error.$": "$.failure.Error",
      ...(mayCompensate && { action: "compensate" }),
    },
  },
  ...(mayCompensate
    ? { ResultSelector: { "next.$": "$.Payload.next" }, ResultPath: "$.settled" }
    : { ResultPath: null }),
  TimeoutSeconds: shortTaskSeconds,
  Retry: genericRetry,
  Catch,
  Next,
});
