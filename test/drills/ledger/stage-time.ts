import type { Actor } from "./actor.ts";
import { startMs } from "./drill-settings.ts";

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
  readonly of: Actor;
  readonly life: number;
}

const isAlive = ({ of, life }: Timer): boolean => of.life === life;

/** Time that passes only when a schedule lets it, and what actors wait for in it. */
export class StageTime {
  nowMs = startMs;
  #timers: readonly Timer[] = [];

  /** @returns what takes it back. A timer of a life that has ended does nothing. */
  after(actor: Actor, ms: number, fire: () => void): () => void {
    const timer = { dueMs: this.nowMs + ms, run: fire, of: actor, life: actor.life };
    this.#timers = [...this.#timers, timer];
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  dueMs(): readonly number[] {
    return this.#timers.filter(isAlive).map(({ dueMs }) => dueMs);
  }

  /** Rings what is due, each timer's consequences before the next. */
  async ring(): Promise<void> {
    const due = this.#timers.filter(({ dueMs }) => dueMs <= this.nowMs);
    this.#timers = this.#timers.filter(({ dueMs }) => dueMs > this.nowMs);
    for (const timer of due) {
      if (!isAlive(timer)) continue;
      timer.of.observe(`time is up at ${this.nowMs}`);
      timer.run();
      // Everything that follows of it are microtasks; whoever ignores the abort stays where it is.
      await new Promise((drained) => setImmediate(drained));
    }
  }

  /** Everything that its future depends on. */
  state(): unknown {
    return this.#timers.map(({ dueMs, of }) => [dueMs, of.name]);
  }
}
