import type { Clock } from "../../shared/ports/clock.ts";
import { exited, functionFailed, type InvokeResult, timedOut } from "../local/lambda/lambda-failure.ts";
import type { ActorProcess, Actor } from "./actor.ts";
import type { VirtualClock } from "./virtual-clock.ts";

export interface InvocationSettings {
  /** `step-refund-agent#3` */
  readonly name: string;
  readonly functionName: string;
  readonly functionArn: string;
  readonly timeoutMs: number;
  /** Only looks whether there is something to do, as the sweep does. */
  readonly looks: boolean;
}

/**
 * One invocation of a function, in a process of its own. It ends once: with its answer, with its death, or at its deadline. What is dead
 * touches nothing any more: its calls are never let through or answered, its timers never fire, and what it counts or logs is not kept.
 */
export class Invocation implements Actor {
  readonly settings: InvocationSettings;
  readonly process: ActorProcess;
  /** Of the time that passes. */
  readonly deadlineMs: number;
  /** What its caller hears, as soon as there is something to hear. */
  readonly result: Promise<InvokeResult>;
  /** Resolves once nothing of it runs any more. */
  readonly ended: Promise<void>;
  readonly #time: VirtualClock;
  readonly #cancels = new Set<() => void>();
  #announce: (result: InvokeResult) => void = () => undefined;
  #announceEnd: () => void = () => undefined;
  #jumpedMs = 0;
  #outlives = false;

  constructor(settings: InvocationSettings, time: VirtualClock) {
    this.settings = settings;
    this.#time = time;
    this.deadlineMs = time.now() + settings.timeoutMs;
    this.result = new Promise((resolve) => {
      this.#announce = resolve;
    });
    this.ended = new Promise((resolve) => {
      this.#announceEnd = resolve;
    });
    this.process = {
      dead: false,
      pending: 0,
      die: () => this.#end(exited(settings.name, null, "SIGKILL")),
      outlive: () => {
        this.#outlives = true;
        return this.deadlineMs;
      },
      jump: (ms) => {
        this.#jumpedMs += ms;
      },
    };
    this.#cancels.add(time.set(() => this.#timeIsUp(), settings.timeoutMs));
  }

  get name(): string {
    return this.settings.name;
  }

  /** It waits for a port, or is over: nothing of it runs. */
  get quiet(): boolean {
    return this.process.dead || this.process.pending > 0;
  }

  /** Dead, or frozen after its answer: what it left undone is not done. */
  get over(): boolean {
    return this.process.dead;
  }

  get looks(): boolean {
    return this.settings.looks;
  }

  /** As its process sees it. */
  readonly clock: Clock = {
    nowMs: () => this.#time.wallMs() + this.#jumpedMs,
    after: (ms, run) => {
      if (this.process.dead) return () => undefined;
      const cancel = this.#time.set(() => {
        this.#cancels.delete(cancel);
        run();
      }, ms);
      this.#cancels.add(cancel);
      return cancel;
    },
  };

  /** `process.exit(1)` */
  exit(): void {
    this.#end(exited(this.name, 1, null));
  }

  /** Runs the handler to its end. */
  async run(handler: () => Promise<unknown>): Promise<void> {
    let result: InvokeResult;
    try {
      const answer: unknown = await handler();
      // As it travels. Undefined has no JSON: a handler that returns nothing answers null.
      result = { ok: true, payload: JSON.parse(JSON.stringify(answer) ?? "null") as unknown };
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      result = functionFailed({ errorType: error.name, errorMessage: error.message, trace: [] });
    }
    this.#end(result);
  }

  #timeIsUp(): void {
    const result = timedOut(this.name, this.settings.timeoutMs);
    if (this.#outlives) this.#announce(result);
    else this.#end(result);
  }

  #end(result: InvokeResult): void {
    if (this.over) return;
    // Its own state, which others only see.
    (this.process as { dead: boolean }).dead = true;
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
    this.#announce(result);
    this.#announceEnd();
  }
}
