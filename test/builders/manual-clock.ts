import type { Clock } from "../../shared/ports/clock.ts";

/** 2026-09-02T12:00:00.000Z: where every test's time begins. */
export const noonMs = Date.UTC(2026, 8, 2, 12, 0, 0);

/** A clock that stands still until the test moves it. */
export class ManualClock implements Clock {
  #nowMs: number;
  #pending: { readonly dueMs: number; readonly run: () => void }[] = [];
  #waiting: { readonly ms: number; readonly arrived: () => void }[] = [];

  constructor(startMs = noonMs) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { dueMs: this.#nowMs + ms, run };
    this.#pending.push(timer);
    for (const waiting of this.#waiting.filter((candidate) => candidate.ms === ms)) waiting.arrived();
    return () => {
      this.#pending = this.#pending.filter((other) => other !== timer);
    };
  }

  /** Resolves once somebody has set a timer of exactly `ms`. */
  timerOf(ms: number): Promise<void> {
    if (this.#pending.some(({ dueMs }) => dueMs === this.#nowMs + ms)) return Promise.resolve();
    return new Promise((arrived) => this.#waiting.push({ ms, arrived }));
  }

  /** Moves time on; what falls due in between runs at its own moment, in order. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const [next] = this.#pending.filter(({ dueMs }) => dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs);
      if (!next) break;
      this.#pending = this.#pending.filter((other) => other !== next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.run();
    }
    this.#nowMs = untilMs;
  }
}
