import type { InvokeResult } from "./invoke-port.ts";
import { throughJson, type Json } from "./json.ts";
import type { TaskAnswer } from "./task-tokens.ts";
import type { Thread } from "./thread.ts";
import type { CancelTimer } from "./timers.ts";

export type TaskOutcome =
  | { readonly kind: "succeeded"; readonly result: Json }
  | { readonly kind: "failed"; readonly error: string | undefined; readonly cause: string | undefined }
  | { readonly kind: "timed-out"; readonly error: "States.Timeout" | "States.HeartbeatTimeout" };

export interface TaskCall {
  readonly functionName: string;
  readonly payload: Json;
  /** Present for a callback Task, which ends by its token and not by what the function returns. */
  readonly token: string | undefined;
  readonly timeoutSeconds: number | undefined;
  readonly heartbeatSeconds: number | undefined;
  /** A callback Task's function has returned; whatever this throws ends the Task. */
  readonly onSubmitted: (result: Json) => void;
}

/** Invokes the function and waits for the first of: its answer, its token's answer, a timeout, a missed heartbeat.
 *  For a callback Task the function's own failure counts, its return value does not. An answer that arrives while the
 *  function still runs is kept until it has returned: a failure then still wins, and the answer is lost with its token. */
export function awaitTask(thread: Thread, call: TaskCall): Promise<TaskOutcome> {
  const { timers, tokens, invokeLambda, newId } = thread.run.ports;
  return thread.scope.first<TaskOutcome>((settle) => {
    let open = true;
    let submitted = false;
    let early: TaskOutcome | undefined;
    const stopTimeout = startTimer(call.timeoutSeconds, "States.Timeout");
    let stopHeartbeat = startTimer(call.heartbeatSeconds, "States.HeartbeatTimeout");

    if (call.token !== undefined) {
      tokens.open(call.token, {
        answer(answer) {
          stopHeartbeat();
          early = fromAnswer(answer);
          if (submitted) settle.resolve(early);
        },
        heartbeat() {
          stopHeartbeat();
          stopHeartbeat = startTimer(call.heartbeatSeconds, "States.HeartbeatTimeout");
        },
      });
    }
    void invoke().catch((thrown: unknown) => settle.reject(thrown));

    return () => {
      open = false;
      stopTimeout();
      stopHeartbeat();
      if (call.token !== undefined) tokens.close(call.token);
    };

    async function invoke(): Promise<void> {
      const answer = await invokeLambda(call.functionName, call.payload).catch(asUnknownError);
      if (!open) return; // too late: the Task has ended some other way
      if (!answer.ok) return settle.resolve({ kind: "failed", error: answer.error, cause: answer.cause });
      const result = invocationResult(answer.payload, newId());
      if (call.token === undefined) return settle.resolve({ kind: "succeeded", result });
      call.onSubmitted(result);
      submitted = true;
      if (early !== undefined) settle.resolve(early);
    }

    function startTimer(seconds: number | undefined, error: "States.Timeout" | "States.HeartbeatTimeout"): CancelTimer {
      if (seconds === undefined) return () => {};
      // A function comes to its end by itself; whoever holds a token may never use it.
      const purpose = call.token === undefined ? undefined : "limit";
      return timers.set(() => settle.resolve({ kind: "timed-out", error }), seconds * 1000, purpose);
    }
  });
}

function fromAnswer(answer: TaskAnswer): TaskOutcome {
  if (answer.kind === "failure") return { kind: "failed", error: answer.error, cause: answer.cause };
  // JSON.parse returns `any`; the service has checked that the text is JSON.
  return { kind: "succeeded", result: JSON.parse(answer.output) as Json };
}

/** The shape of `arn:aws:states:::lambda:invoke`'s result. */
function invocationResult(payload: unknown, requestId: string): Json {
  return {
    ExecutedVersion: "$LATEST",
    Payload: throughJson(payload),
    SdkHttpMetadata: { AllHttpHeaders: {}, HttpHeaders: {}, HttpStatusCode: 200 },
    SdkResponseMetadata: { RequestId: requestId },
    StatusCode: 200,
  };
}

/** The port promises a result; one that rejects all the same has left us without knowing what the function did. */
function asUnknownError(thrown: unknown): InvokeResult {
  return { ok: false, error: "Lambda.Unknown", cause: `The invocation ended without a result: ${String(thrown)}` };
}
