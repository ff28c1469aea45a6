import type { Clock } from "../ports/clock.ts";
import type { KeyRing, KeyRingSource } from "./key-ring.ts";

/** A key that was removed verifies for so long at most; a new one signs after it. */
const keptMs = 5 * 60_000;
/** Links that name an unknown key ask for the ring again no more often than this: anybody may make such links up. */
const askedAgainMs = 10_000;

/** The key ring of one process. */
export interface KeyRings {
  /** As it was read within the last five minutes. */
  current(): Promise<KeyRing>;
  /** The ring that holds `kid`, read again where the kept one does not: another function may sign by a new key already. */
  holding(kid: string): Promise<KeyRing>;
}

/** Keeps what was read briefly, so that a page costs no request to the store of secrets. A failure is never kept. */
export function cachedKeyRing(source: KeyRingSource, clock: Clock): KeyRings {
  let kept: { readonly ring: Promise<KeyRing>; readonly atMs: number } | undefined;
  const readAfter = (ageMs: number): Promise<KeyRing> => {
    const nowMs = clock.nowMs();
    if (kept && nowMs - kept.atMs < ageMs) return kept.ring;
    const reading = { ring: source.read(), atMs: nowMs };
    kept = reading;
    reading.ring.catch(() => {
      if (kept === reading) kept = undefined;
    });
    return reading.ring;
  };
  return {
    current: () => readAfter(keptMs),
    async holding(kid) {
      const ring = await readAfter(keptMs);
      return ring.keys.has(kid) ? ring : readAfter(askedAgainMs);
    },
  };
}
