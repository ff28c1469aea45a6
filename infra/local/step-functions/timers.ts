export type CancelTimer = () => void;

/** The engine's only source of time, so that a virtual clock can drive it. */
export interface Timers {
  /** Epoch milliseconds. */
  now(): number;
  /** Calls `fire` once, not before `delayMs` has passed, never synchronously. Cancelling twice is harmless.
   *  `limit`: only ends what somebody outside should have ended before, so that nobody need wait for it. */
  set(fire: () => void, delayMs: number, purpose?: "limit"): CancelTimer;
}

/** Node fires at once when a delay exceeds 2^31-1 ms (24.8 days), and an approval may wait longer than that. */
const NODE_DELAY_MAX_MS = 2_147_483_647;

export const realTimers: Timers = {
  now: () => Date.now(),
  set(fire, delayMs) {
    const dueAtEpochMs = Date.now() + delayMs;
    let handle: NodeJS.Timeout;
    const arm = (): void => {
      const remainingMs = Math.max(0, dueAtEpochMs - Date.now());
      handle = remainingMs > NODE_DELAY_MAX_MS ? setTimeout(arm, NODE_DELAY_MAX_MS) : setTimeout(fire, remainingMs);
    };
    arm();
    return () => clearTimeout(handle);
  },
};
