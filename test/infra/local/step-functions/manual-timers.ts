import type { Timers } from "../../../../infra/local/step-functions/timers.ts";

/** A clock that stands still until the test moves it. */
export class ManualTimers implements Timers {
  #nowMs = Date.UTC(2026, 8, 2, 12, 0, 0);
  #pending: { readonly dueMs: number; readonly fire: () => void }[] = [];
  /** Delays asked for and not cancelled, in the order of asking. */
  readonly delaysMs: number[] = [];

  now(): number {
    return this.#nowMs;
  }

  set(fire: () => void, delayMs: number): () => void {
    const timer = { dueMs: this.#nowMs + delayMs, fire };
    this.#pending.push(timer);
    this.delaysMs.push(delayMs);
    return () => {
      this.#pending = this.#pending.filter((other) => other !== timer);
    };
  }

  get waiting(): number {
    return this.#pending.length;
  }

  /** Moves time forward and lets everything that falls due in between happen at its own moment. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      await settled();
      const [next] = this.#pending.filter(({ dueMs }) => dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs);
      if (next === undefined) break;
      this.#pending = this.#pending.filter((other) => other !== next);
      this.#nowMs = next.dueMs;
      next.fire();
    }
    this.#nowMs = untilMs;
    await settled();
  }
}

/** Lets every promise that can resolve do so. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
