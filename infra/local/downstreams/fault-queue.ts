import { z } from "zod";

/** What every fault may carry. `times` counts the requests it still hits. */
export const FaultBase = z.object({
  times: z.number().int().positive().default(1),
});

/** How long a slow, late or held request waits. Without `ms`: until the faults are cleared, so a test needs no clock. */
export const FaultDelay = { ms: z.number().int().nonnegative().optional() };

/** Faults waiting for the requests they will hit, first in first out, and the requests they hold. */
export class FaultQueue<Fault extends { readonly times: number }> {
  #generation = 0;
  #waiting: { readonly fault: Fault; timesLeft: number }[] = [];
  readonly #held = new Map<() => void, NodeJS.Timeout | undefined>();

  add(fault: Fault): void {
    this.#waiting.push({ fault, timesLeft: fault.times });
  }

  /** The first fault that `hits` accepts, used up by one. */
  take(hits: (fault: Fault) => boolean): Fault | undefined {
    const found = this.#waiting.find(({ fault }) => hits(fault));
    if (found === undefined) return undefined;
    found.timesLeft -= 1;
    if (found.timesLeft === 0) this.#waiting = this.#waiting.filter((entry) => entry !== found);
    return found.fault;
  }

  waiting(): Fault[] {
    return this.#waiting.map(({ fault, timesLeft }) => ({ ...fault, times: timesLeft }));
  }

  /** How many requests hang here at this moment. */
  get held(): number {
    return this.#held.size;
  }

  /** Goes up with every `clear`. */
  get generation(): number {
    return this.#generation;
  }

  /** Resolves after `ms`, or when the faults are cleared, whichever is first; without `ms` only when they are cleared. A request
   *  that arrived in an earlier `generation` was already let go: it is not held a second time. */
  hold(ms?: number, generation = this.#generation): Promise<void> {
    if (generation !== this.#generation) return Promise.resolve();
    return new Promise((resolve) => {
      const release = () => {
        clearTimeout(this.#held.get(release));
        this.#held.delete(release);
        resolve();
      };
      this.#held.set(release, ms === undefined ? undefined : setTimeout(release, ms));
    });
  }

  /** Forgets the waiting faults and lets the held requests go on. */
  clear(): void {
    this.#generation += 1;
    this.#waiting = [];
    for (const release of [...this.#held.keys()]) release();
  }

  /** For a server that goes down: what is held stays undone, as it would in a process that died. */
  abandon(): void {
    this.#waiting = [];
    for (const timer of this.#held.values()) clearTimeout(timer);
    this.#held.clear();
  }
}
