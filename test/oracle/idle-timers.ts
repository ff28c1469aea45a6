import type { Timers } from "../../infra/local/step-functions/timers.ts";

/** A clock for our interpreter that jumps to the next timer whenever nothing else can happen: no function runs and no answer is under
 *  way. So a week passes at once, and no answer is ever late because the machine was busy. */
export class IdleTimers implements Timers {
  #nowMs = Date.UTC(2026, 8, 2, 12, 0, 0);
  #pending: { readonly dueMs: number; readonly fire: () => void }[] = [];
  #busy = 0;

  now(): number {
    return this.#nowMs;
  }

  set(fire: () => void, delayMs: number): () => void {
    const timer = { dueMs: this.#nowMs + delayMs, fire };
    this.#pending.push(timer);
    this.#jumpWhenIdle();
    return () => {
      this.#pending = this.#pending.filter((other) => other !== timer);
    };
  }

  /** Time stands still until `work` has settled. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#busy += 1;
    try {
      return await work;
    } finally {
      this.#busy -= 1;
      this.#jumpWhenIdle();
    }
  }

  #jumpWhenIdle(): void {
    // By then every promise that could resolve has.
    setImmediate(() => {
      const [next] = [...this.#pending].sort((a, b) => a.dueMs - b.dueMs);
      if (this.#busy > 0 || next === undefined) return;
      this.#pending = this.#pending.filter((other) => other !== next);
      this.#nowMs = next.dueMs;
      next.fire();
      this.#jumpWhenIdle();
    });
  }
}
