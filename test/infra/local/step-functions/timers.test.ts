import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { realTimers } from "../../../../infra/local/step-functions/timers.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const dayMs = 24 * 60 * 60 * 1000;

test("a wait longer than Node's own timers can hold ends on its day and not at once", () => {
  let fired = 0;
  realTimers.set(() => (fired += 1), 60 * dayMs);
  vi.advanceTimersByTime(60 * dayMs - 1);
  expect(fired).toBe(0);
  vi.advanceTimersByTime(1);
  expect(fired).toBe(1);
});

test("a long wait can be cancelled after it was armed again", () => {
  let fired = 0;
  const cancel = realTimers.set(() => (fired += 1), 60 * dayMs);
  vi.advanceTimersByTime(30 * dayMs);
  cancel();
  cancel();
  vi.advanceTimersByTime(60 * dayMs);
  expect(fired).toBe(0);
});
