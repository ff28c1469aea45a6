import { fillParameters } from "./data-flow.ts";
import { NOT_TRUNCATED } from "./history.ts";
import { isObject, throughJson, type Json } from "./json.ts";
import { textWithinLimit } from "./payload-limit.ts";
import { awaitTask, type TaskOutcome } from "./task-outcome.ts";
import { PathFailure, StateFailure } from "./state-failure.ts";
import { INVOKE_AND_WAIT, type TaskState } from "./state-schema.ts";
import type { Visit } from "./visit.ts";

/** One attempt of a Task: schedules the function, waits for its answer or its token's, and returns the raw result.
 *  @throws StateFailure for whatever else came first. */
export async function attemptTask(state: TaskState, visit: Visit, input: Json): Promise<Json> {
  const { thread } = visit;
  const { tokens } = thread.run.ports;
  const callback = state.Resource === INVOKE_AND_WAIT;
  const token = callback ? tokens.issue() : undefined;
  const parameters = fillParameters(state.Parameters, input, visit, token);
  const { functionName, payload } = readInvocation(parameters);
  const service = { resourceType: "lambda", resource: callback ? "invoke.waitForTaskToken" : "invoke" };

  thread.record("TaskScheduled", {
    taskScheduledEventDetails: {
      ...service,
      region: "us-east-1",
      parameters: JSON.stringify(parameters),
      ...(state.TimeoutSeconds === undefined ? {} : { timeoutInSeconds: state.TimeoutSeconds }),
      ...(state.HeartbeatSeconds === undefined ? {} : { heartbeatInSeconds: state.HeartbeatSeconds }),
    },
  });
  thread.record("TaskStarted", { taskStartedEventDetails: service });

  const outcome = await awaitTask(thread, {
    functionName,
    payload,
    token,
    timeoutSeconds: state.TimeoutSeconds,
    heartbeatSeconds: state.HeartbeatSeconds,
    onSubmitted: (result) => {
      const output = textWithinLimit(visit.name, result);
      thread.record("TaskSubmitted", {
        taskSubmittedEventDetails: { ...service, output, outputDetails: NOT_TRUNCATED },
      });
    },
  }).catch(failedOutcome);
  const settled = outcome.kind === "succeeded" ? withinLimit(visit.name, outcome.result) : outcome;

  switch (settled.kind) {
    case "succeeded": {
      const output = JSON.stringify(settled.result);
      thread.record("TaskSucceeded", {
        taskSucceededEventDetails: { ...service, output, outputDetails: NOT_TRUNCATED },
      });
      return settled.result;
    }
    case "failed": {
      const { error, cause } = settled;
      thread.record("TaskFailed", { taskFailedEventDetails: { ...service, ...present({ error, cause }) } });
      throw new StateFailure(error ?? "", cause ?? "");
    }
    case "timed-out":
      thread.record("TaskTimedOut", { taskTimedOutEventDetails: { ...service, error: settled.error } });
      throw new StateFailure(settled.error, "");
    default:
      return settled satisfies never;
  }
}

function withinLimit(name: string, result: Json): TaskOutcome {
  try {
    textWithinLimit(name, result);
    return { kind: "succeeded", result };
  } catch (thrown) {
    return failedOutcome(thrown);
  }
}

function failedOutcome(thrown: unknown): TaskOutcome {
  if (!(thrown instanceof StateFailure)) throw thrown;
  return { kind: "failed", error: thrown.error, cause: thrown.causeText };
}

/** The function may be chosen by a path, so its name is only known now. */
function readInvocation(parameters: Json): { functionName: string; payload: Json } {
  const functionName = isObject(parameters) ? parameters["FunctionName"] : undefined;
  if (typeof functionName !== "string" || functionName === "") {
    throw new PathFailure(
      `expected Parameters.FunctionName to be a name or an ARN, found ${JSON.stringify(functionName)}`,
    );
  }
  const payload = isObject(parameters) ? parameters["Payload"] : undefined;
  return { functionName, payload: throughJson(payload === undefined ? {} : payload) };
}

function present(texts: { error: string | undefined; cause: string | undefined }): { error?: string; cause?: string } {
  return {
    ...(texts.error === undefined ? {} : { error: texts.error }),
    ...(texts.cause === undefined ? {} : { cause: texts.cause }),
  };
}
