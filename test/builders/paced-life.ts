import { seededRandom } from "../../infra/local/seeded-random.ts";
import { type CrashPoint, Life } from "./life.ts";

/** Lets one port call through at a time. Who is next, of those that wait, is the seed's word. */
export class Turns {
  readonly #random: () => number;
  readonly #waiting: (() => Promise<void>)[] = [];
  #busy = false;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  take<T>(run: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push(() => run().then(resolve, reject));
      this.#soon();
    });
  }

  /** Once everybody who can has come to a port. */
  #soon(): void {
    setImmediate(() => setImmediate(() => this.#next()));
  }

  #next(): void {
    if (this.#busy || this.#waiting.length === 0) return;
    const [turn] = this.#waiting.splice(Math.floor(this.#random() * this.#waiting.length), 1);
    this.#busy = true;
    void turn?.().finally(() => {
      this.#busy = false;
      this.#soon();
    });
  }
}

/** A process whose port calls take turns with those of others. */
export class PacedLife extends Life {
  readonly #turns: Turns;

  constructor(turns: Turns, crash?: CrashPoint) {
    super(crash);
    this.#turns = turns;
  }

  override pass<T>(call: string, run: () => Promise<T>): Promise<T> {
    return this.#turns.take(() => super.pass(call, run));
  }
}
