import { setImmediate as nextRound } from "node:timers/promises";
import type { Invocation } from "./invocation.ts";
import type { Scheduler } from "./scheduler.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** Rounds of the event loop that an invocation may compute without calling a port. */
const roundsMax = 50_000;

/** `met`: what was waited for is so. `idle`: it never will be by itself, since nothing happens any more. */
export type Reached = "met" | "idle";

interface Goal {
  /** Asked after every call. */
  readonly met?: () => boolean;
  /** Asked whenever nothing can go on before time does. May look at what is stored. */
  readonly metAtRest?: () => Promise<boolean>;
  /** Time to pass, limits and all. */
  readonly untilMs?: number;
  readonly resolve: (reached: Reached) => void;
  readonly reject: (error: unknown) => void;
}

export interface DriveOptions {
  readonly clock: VirtualClock;
  readonly scheduler: Scheduler;
  readonly open: () => readonly Invocation[];
  /** Whether nothing will happen before somebody outside does something. Asked where no work is set for later. */
  readonly idle: () => Promise<boolean>;
}

/**
 * Keeps the world going until every goal is reached: calls first, one after another; time only when there is none. There is one loop,
 * however many wait for it.
 */
export class Drive {
  readonly #options: DriveOptions;
  #goals: Goal[] = [];
  #going = false;

  constructor(options: DriveOptions) {
    this.#options = options;
  }

  until(goal: Pick<Goal, "met" | "metAtRest" | "untilMs">): Promise<Reached> {
    return new Promise((resolve, reject) => {
      this.#goals.push({ ...goal, resolve, reject });
      if (!this.#going) void this.#go();
    });
  }

  async #go(): Promise<void> {
    this.#going = true;
    try {
      while (this.#goals.length > 0) {
        await this.#settle();
        this.#reached((goal) => goal.met?.() === true);
        if (this.#goals.length === 0 || (await this.#options.scheduler.admit())) continue;
        await this.#atRest();
      }
    } catch (error) {
      for (const goal of this.#goals.splice(0)) goal.reject(error);
    } finally {
      this.#going = false;
    }
  }

  /** Until everybody who computes has come to a port, or to an end. */
  async #settle(): Promise<void> {
    for (let round = 0; round < roundsMax; round++) {
      await nextRound();
      if (this.#options.open().every(({ quiet }) => quiet)) return;
    }
    const busy = this.#options.open().filter(({ quiet }) => !quiet);
    throw new Error(
      `${busy.map(({ name }) => name).join(", ")} waits for something that is no port: time, chance and the network may only be used in a tool`,
    );
  }

  async #atRest(): Promise<void> {
    const { clock } = this.#options;
    const asked = await Promise.all(this.#goals.map(async (goal) => ((await goal.metAtRest?.()) ? [goal] : [])));
    const met = new Set(asked.flat());
    this.#reached((goal) => met.has(goal));
    if (this.#goals.length === 0) return;

    const untilMs = Math.min(...this.#goals.map((goal) => goal.untilMs ?? Infinity));
    if (untilMs !== Infinity) {
      if (clock.fireNext(untilMs)) return;
      clock.moveTo(untilMs);
      return this.#reached((goal) => goal.untilMs === untilMs);
    }
    const over = clock.nextDueMs(["work"]) === undefined && (await this.#options.idle());
    const dueMs = over ? undefined : clock.nextDueMs(["work", "rhythm"]);
    if (dueMs === undefined || !clock.fireNext(dueMs)) this.#reached(() => true, "idle");
  }

  #reached(is: (goal: Goal) => boolean, reached: Reached = "met"): void {
    const done = this.#goals.filter(is);
    this.#goals = this.#goals.filter((goal) => !done.includes(goal));
    for (const goal of done) goal.resolve(reached);
  }
}
