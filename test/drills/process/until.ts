import { setTimeout as pause } from "node:timers/promises";

const pollMs = 100;
/** A lease, a message that comes again, sweeps and the work itself, on a machine that is busy with other suites; without them, seconds. */
const patienceMs = 4 * 60_000;
const shownCharacters = 4_000;

/** Looks again and again until `done`. @throws Error that says what was waited for, and what was seen last, once patience ends. */
export async function until<T>(what: string, look: () => Promise<T> | T, done: (seen: T) => boolean): Promise<T> {
  const giveUpAtMs = Date.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (done(seen)) return seen;
    if (Date.now() > giveUpAtMs) {
      const shown = JSON.stringify(seen) ?? "nothing";
      throw new Error(
        `waited ${patienceMs / 1_000} s until ${what}, and saw at last: ${shown.slice(0, shownCharacters)}`,
      );
    }
    await pause(pollMs);
  }
}
