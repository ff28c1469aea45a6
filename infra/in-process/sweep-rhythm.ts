import type { SweepReport } from "../../shared/sweep/sweep.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** However long nothing happens, somebody looks once a day. */
const gapMsMax = 24 * 3_600_000;

export interface SweepRhythmOptions {
  readonly clock: VirtualClock;
  /** Between two sweeps. 0 for none. */
  readonly everyMs: number;
  /** @returns undefined where the sweep did not come to its end. */
  readonly sweep: () => Promise<SweepReport | undefined>;
}

/**
 * What the schedule does. While nothing happens the sweeps thin out: each one that finds nothing to do doubles the wait for the next, up to a
 * day, and anything that happens brings the rhythm back. So a week of waiting costs a dozen sweeps and not two thousand.
 */
export class SweepRhythm {
  readonly #options: SweepRhythmOptions;
  #gapMs: number;
  #dueMs = Infinity;
  #cancel: () => void = () => undefined;
  #fruitless = 0;

  constructor(options: SweepRhythmOptions) {
    this.#options = options;
    this.#gapMs = options.everyMs;
    this.#next();
  }

  /** Sweeps in a row that found nothing to do, since anything happened. */
  get fruitless(): number {
    return this.#fruitless;
  }

  /** Something happened that was no sweep. */
  disturb(): void {
    const { clock, everyMs } = this.#options;
    this.#fruitless = 0;
    this.#gapMs = everyMs;
    if (this.#dueMs !== Infinity && this.#dueMs > clock.now() + everyMs) this.#next();
  }

  /** One at a time: the next is set once this one has ended. */
  #next(): void {
    const { clock, everyMs } = this.#options;
    if (everyMs === 0) return;
    this.#cancel();
    this.#dueMs = clock.now() + this.#gapMs;
    this.#cancel = clock.set(
      () => {
        this.#dueMs = Infinity;
        void this.#sweep();
      },
      this.#gapMs,
      "rhythm",
    );
  }

  async #sweep(): Promise<void> {
    const report = await this.#options.sweep();
    if (report && foundNothing(report)) {
      this.#fruitless++;
      this.#gapMs = Math.min(this.#gapMs * 2, gapMsMax);
    } else {
      this.#fruitless = 0;
      this.#gapMs = this.#options.everyMs;
    }
    this.#next();
  }
}

const foundNothing = ({ deeds, errors, finished }: SweepReport): boolean =>
  finished && errors === 0 && Object.entries(deeds).every(([deed, times]) => deed === "nothing" || times === 0);
