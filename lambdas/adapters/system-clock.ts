import type { Clock } from "../../shared/ports/clock.ts";

/* eslint-disable no-restricted-syntax -- the one place where real time enters */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
