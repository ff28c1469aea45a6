import type { HistoryEventType } from "@aws-sdk/client-sfn";
import type { EventDetails, History } from "./history.ts";
import type { InvokeLambda } from "./invoke-port.ts";
import type { JsonObject } from "./json.ts";
import { Cancelled, type Scope } from "./scope.ts";
import type { TaskTokens } from "./task-tokens.ts";
import type { Timers } from "./timers.ts";

/** What one execution needs from outside itself. */
export interface EnginePorts {
  readonly timers: Timers;
  /** In [0, 1); used for jitter only. */
  readonly random: () => number;
  readonly newId: () => string;
  readonly invokeLambda: InvokeLambda;
  readonly tokens: TaskTokens;
}

/** What all threads of one execution share. */
export interface Run {
  readonly ports: EnginePorts;
  readonly history: History;
  /** `$$.Execution` and `$$.StateMachine`. */
  readonly context: JsonObject;
  /** Each state entered and each retry, as they are billed. */
  transitions: number;
}

/** One line of control through states: the execution's own, or that of a Parallel branch. */
export class Thread {
  readonly run: Run;
  readonly scope: Scope;
  #lastEventId: number;

  constructor(run: Run, scope: Scope, lastEventId = 0) {
    this.run = run;
    this.scope = scope;
    this.#lastEventId = lastEventId;
  }

  get lastEventId(): number {
    return this.#lastEventId;
  }

  /** Adds an event that follows this thread's last one. @throws Cancelled once the thread has ended: it leaves no trace. */
  record(type: HistoryEventType, details?: EventDetails): number {
    this.#lastEventId = this.recordAside(type, details);
    return this.#lastEventId;
  }

  /** The same, but the next event will not refer to this one (the service does so after a Parallel's success). */
  recordAside(type: HistoryEventType, details?: EventDetails): number {
    if (this.scope.cancelled) throw new Cancelled();
    return this.run.history.add(type, this.#lastEventId, details);
  }

  fork(scope: Scope): Thread {
    return new Thread(this.run, scope, this.#lastEventId);
  }

  /** Goes on from the latest event of the branches. */
  join(branches: readonly Thread[]): void {
    this.#lastEventId = Math.max(this.#lastEventId, ...branches.map((branch) => branch.lastEventId));
  }
}
