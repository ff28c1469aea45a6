import type { CancelTimer, Timers } from "../local/step-functions/timers.ts";

/**
 * What a timer is for. `work`: something goes on when it is due. `limit`: it ends what somebody outside should have ended, e.g. a state
 * that waits for a person. `rhythm`: it comes round for ever.
 */
export type TimerPurpose = "work" | "limit" | "rhythm";

interface Timer {
  readonly dueMs: number;
  readonly purpose: TimerPurpose;
  readonly fire: () => void;
}

/** Time that stands still until somebody moves it. Of timers due at one instant the one that was set first fires first. */
export class VirtualClock implements Timers {
  #nowMs: number;
  #jumpedMs = 0;
  /** By due time, then by age. */
  readonly #timers: Timer[] = [];

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  /** Epoch milliseconds of the time that passes: what timers go by. */
  now(): number {
    return this.#nowMs;
  }

  /** What the clock on the wall says: as far ahead of the time that passes as it has jumped. */
  wallMs(): number {
    return this.#nowMs + this.#jumpedMs;
  }

  /** Moves the wall clock of everybody, and no timer. */
  jump(ms: number): void {
    this.#jumpedMs += ms;
  }

  set(fire: () => void, delayMs: number, purpose: TimerPurpose = "work"): CancelTimer {
    const timer: Timer = { dueMs: this.#nowMs + Math.max(0, delayMs), purpose, fire };
    const after = this.#timers.findIndex((other) => other.dueMs > timer.dueMs);
    this.#timers.splice(after === -1 ? this.#timers.length : after, 0, timer);
    return () => {
      const at = this.#timers.indexOf(timer);
      if (at !== -1) this.#timers.splice(at, 1);
    };
  }

  sleep(ms: number, purpose?: TimerPurpose): Promise<void> {
    return new Promise((resolve) => void this.set(resolve, ms, purpose));
  }

  /** When the next timer is due: of any purpose, or of these. */
  nextDueMs(purposes?: readonly TimerPurpose[]): number | undefined {
    return this.#timers.find((timer) => purposes?.includes(timer.purpose) ?? true)?.dueMs;
  }

  /** Moves to the next timer and fires it. @returns false where none is due by `untilMs`: nothing has moved then. */
  fireNext(untilMs: number): boolean {
    const [next] = this.#timers;
    if (next === undefined || next.dueMs > untilMs) return false;
    this.#timers.shift();
    this.#nowMs = Math.max(this.#nowMs, next.dueMs);
    next.fire();
    return true;
  }

  /** Precondition: nothing is due before. */
  moveTo(ms: number): void {
    this.#nowMs = Math.max(this.#nowMs, ms);
  }
}
