import type { DescribeExecutionOutput, ExecutionListItem, HistoryEvent } from "@aws-sdk/client-sfn";
import { LOCAL_ROLE_ARN } from "./arn.ts";
import type { Definition } from "./definition.ts";
import { History, NOT_TRUNCATED } from "./history.ts";
import { runBranch } from "./interpreter.ts";
import type { Json } from "./json.ts";
import { Cancelled, Scope } from "./scope.ts";
import { StateFailure } from "./state-failure.ts";
import { Thread, type EnginePorts, type Run } from "./thread.ts";
import type { CancelTimer } from "./timers.ts";

export type ExecutionEnd =
  | { readonly status: "SUCCEEDED"; readonly output: string }
  | { readonly status: "FAILED" | "ABORTED"; readonly error?: string; readonly cause?: string }
  | { readonly status: "TIMED_OUT" };

export interface ExecutionRequest {
  readonly arn: string;
  readonly name: string;
  readonly stateMachine: { readonly arn: string; readonly name: string; readonly definition: Definition };
  /** JSON text, checked by the caller. */
  readonly input: string;
}

/** One run of a state machine, from its start event to its end. It ends once; whatever answers later is discarded. */
export class Execution {
  readonly request: ExecutionRequest;
  readonly startedAt: Date;
  /** Resolves when the execution ends, however it ends. Never rejects. */
  readonly finished: Promise<ExecutionEnd>;
  readonly #ports: EnginePorts;
  readonly #run: Run;
  readonly #scope = new Scope();
  readonly #announce: (end: ExecutionEnd) => void;
  #end: { readonly end: ExecutionEnd; readonly at: Date } | undefined;
  #cancelTimeout: CancelTimer = () => {};

  constructor(request: ExecutionRequest, ports: EnginePorts) {
    this.request = request;
    this.#ports = ports;
    this.startedAt = new Date(ports.timers.now());
    this.#run = { ports, history: new History(ports.timers), context: this.#context(), transitions: 0 };
    const { promise, resolve } = withResolvers<ExecutionEnd>();
    this.finished = promise;
    this.#announce = resolve;
    this.#start();
  }

  get open(): boolean {
    return this.#end === undefined;
  }

  get stoppedAt(): Date | undefined {
    return this.#end?.at;
  }

  get events(): readonly HistoryEvent[] {
    return this.#run.history.events;
  }

  get stateTransitions(): number {
    return this.#run.transitions;
  }

  stop(error: string | undefined, cause: string | undefined): void {
    this.#conclude({ status: "ABORTED", ...texts(error, cause) }, 0);
  }

  /** Ends all timers and waits without a trace, as if the engine's process had died. `finished` stays open. */
  abandon(): void {
    this.#cancelTimeout();
    this.#scope.cancel();
  }

  describe(): DescribeExecutionOutput {
    const { input } = this.request;
    const ended = this.#end?.end;
    return {
      ...this.summary(),
      input,
      inputDetails: { included: true },
      ...(ended?.status === "SUCCEEDED" ? { output: ended.output, outputDetails: { included: true } } : {}),
      ...(ended?.status === "FAILED" || ended?.status === "ABORTED" ? texts(ended.error, ended.cause) : {}),
      redriveStatus: "NOT_REDRIVABLE",
      redriveStatusReason: "Redrive is not supported here",
    };
  }

  summary(): ExecutionListItem {
    const { arn, name, stateMachine } = this.request;
    return {
      executionArn: arn,
      stateMachineArn: stateMachine.arn,
      name,
      status: this.#end?.end.status ?? "RUNNING",
      startDate: this.startedAt,
      ...(this.#end === undefined ? {} : { stopDate: this.#end.at }),
      redriveCount: 0,
    };
  }

  #start(): void {
    const { input, stateMachine } = this.request;
    const { timeoutSeconds } = stateMachine.definition;
    this.#run.history.add("ExecutionStarted", 0, {
      executionStartedEventDetails: { input, inputDetails: NOT_TRUNCATED, roleArn: LOCAL_ROLE_ARN },
    });
    // The first state refers to event 0 and not to ExecutionStarted, as in the service's own histories.
    const thread = new Thread(this.#run, this.#scope, 0);
    if (timeoutSeconds !== undefined) {
      this.#cancelTimeout = this.#ports.timers.set(
        () => this.#conclude({ status: "TIMED_OUT" }, thread.lastEventId),
        timeoutSeconds * 1000,
        "limit",
      );
    }
    void this.#go(thread);
  }

  async #go(thread: Thread): Promise<void> {
    await Promise.resolve(); // StartExecution answers before the first state runs
    try {
      const output = await runBranch(this.request.stateMachine.definition, parse(this.request.input), thread);
      this.#conclude({ status: "SUCCEEDED", output: JSON.stringify(output) }, thread.lastEventId);
    } catch (thrown) {
      if (thrown instanceof Cancelled) return;
      const failure = thrown instanceof StateFailure ? thrown : new StateFailure("States.Runtime", String(thrown));
      this.#conclude({ status: "FAILED", ...texts(failure.error, failure.causeText) }, thread.lastEventId);
    }
  }

  #conclude(end: ExecutionEnd, previousEventId: number): void {
    if (!this.open) return;
    this.#recordEnd(end, previousEventId);
    this.#end = { end, at: new Date(this.#ports.timers.now()) };
    this.abandon();
    this.#announce(end);
  }

  #recordEnd(end: ExecutionEnd, previousEventId: number): void {
    const { history } = this.#run;
    switch (end.status) {
      case "SUCCEEDED": {
        const details = { output: end.output, outputDetails: NOT_TRUNCATED };
        history.end("ExecutionSucceeded", previousEventId, { executionSucceededEventDetails: details });
        return;
      }
      case "FAILED":
        history.end("ExecutionFailed", previousEventId, { executionFailedEventDetails: texts(end.error, end.cause) });
        return;
      case "ABORTED":
        history.end("ExecutionAborted", previousEventId, { executionAbortedEventDetails: texts(end.error, end.cause) });
        return;
      case "TIMED_OUT":
        history.end("ExecutionTimedOut", previousEventId, { executionTimedOutEventDetails: {} });
        return;
      default:
        end satisfies never;
    }
  }

  #context(): Run["context"] {
    const { arn, name, input, stateMachine } = this.request;
    return {
      Execution: {
        Id: arn,
        Input: parse(input),
        Name: name,
        RoleArn: LOCAL_ROLE_ARN,
        StartTime: this.startedAt.toISOString(),
        RedriveCount: 0,
      },
      StateMachine: { Id: stateMachine.arn, Name: stateMachine.name },
    };
  }
}

function parse(text: string): Json {
  // JSON.parse returns `any`; the service has checked that the text is JSON.
  return JSON.parse(text) as Json;
}

/** The API leaves out an error or cause that nobody gave. */
function texts(error: string | undefined, cause: string | undefined): { error?: string; cause?: string } {
  return { ...(error ? { error } : {}), ...(cause ? { cause } : {}) };
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}
