import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchesError } from "../../../../infra/local/step-functions/error-names.ts";
import { decideRetry } from "../../../../infra/local/step-functions/retry.ts";
import type { Retrier } from "../../../../infra/local/step-functions/state-schema.ts";

function retrier(fields: Partial<Retrier> = {}): Retrier {
  return { ErrorEquals: ["A"], IntervalSeconds: 1, MaxAttempts: 3, BackoffRate: 2, JitterStrategy: "NONE", ...fields };
}
const never = (): number => {
  throw new Error("no jitter was asked for");
};

describe("an error matches", () => {
  test.each([
    ["its own name", ["A"], "A", true],
    ["no other name", ["B"], "A", false],
    ["the wildcard", ["States.ALL"], "A", true],
    ["States.TaskFailed when it is no timeout", ["States.TaskFailed"], "A", true],
    ["States.TaskFailed never when it is a timeout", ["States.TaskFailed"], "States.Timeout", false],
    ["the wildcard when it is a timeout", ["States.ALL"], "States.Timeout", true],
    ["States.Timeout when a heartbeat was missed", ["States.Timeout"], "States.HeartbeatTimeout", true],
    ["its own name when a heartbeat was missed", ["States.HeartbeatTimeout"], "States.HeartbeatTimeout", true],
    ["no heartbeat entry when the whole time ran out", ["States.HeartbeatTimeout"], "States.Timeout", false],
    ["no wildcard when data is too large", ["States.ALL"], "States.DataLimitExceeded", false],
    ["no States.TaskFailed when data is too large", ["States.TaskFailed"], "States.DataLimitExceeded", false],
    ["its own name when data is too large", ["States.DataLimitExceeded"], "States.DataLimitExceeded", true],
    ["no wildcard when the definition failed", ["States.ALL"], "States.Runtime", false],
    ["not even its name when the definition failed", ["States.Runtime"], "States.Runtime", false],
  ])("%s", (_title, errorEquals, error, expected) => {
    expect(matchesError(errorEquals, error)).toBe(expected);
  });
});

describe("the delay", () => {
  test("grows by the backoff rate from the interval on", () => {
    const delays = [0, 1, 2].map((used) =>
      decideRetry([retrier({ IntervalSeconds: 3, BackoffRate: 1.5 })], [used], "A", never),
    );
    expect(delays).toEqual([
      { kind: "retry", retrier: 0, delayMs: 3000 },
      { kind: "retry", retrier: 0, delayMs: 4500 },
      { kind: "retry", retrier: 0, delayMs: 6750 },
    ]);
  });
  test("with full jitter is drawn from zero up to the whole backoff", () => {
    const policy = [retrier({ IntervalSeconds: 8, JitterStrategy: "FULL" })];
    expect(decideRetry(policy, [0], "A", () => 0)).toMatchObject({ delayMs: 0 });
    expect(decideRetry(policy, [0], "A", () => 0.25)).toMatchObject({ delayMs: 2000 });
  });
  test("never exceeds MaxDelaySeconds, whatever the policy, attempt and chance", () => {
    const policy = fc.record({
      interval: fc.integer({ min: 1, max: 1000 }),
      above: fc.integer({ min: 1, max: 1000 }),
      rate: fc.double({ min: 1, max: 10, noNaN: true }),
      jitter: fc.constantFrom("NONE" as const, "FULL" as const),
      used: fc.integer({ min: 0, max: 10_000 }),
      chance: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    });
    fc.assert(
      fc.property(policy, ({ interval, above, rate, jitter, used, chance }) => {
        const capSeconds = interval + above;
        const entry = retrier({
          IntervalSeconds: interval,
          MaxDelaySeconds: capSeconds,
          BackoffRate: rate,
          JitterStrategy: jitter,
          MaxAttempts: 10_001,
        });
        const decision = decideRetry([entry], [used], "A", () => chance);
        expect(decision.kind).toBe("retry");
        if (decision.kind === "retry") {
          expect(decision.delayMs).toBeGreaterThanOrEqual(0);
          expect(decision.delayMs).toBeLessThanOrEqual(capSeconds * 1000);
        }
      }),
    );
  });
  test("stays within what a timer can hold when no cap is set", () => {
    expect(decideRetry([retrier({ MaxAttempts: 9_999_999 })], [5000], "A", never)).toMatchObject({
      delayMs: 31_536_000_000,
    });
  });
});

test("the first retrier that matches decides, even when it is used up and a later one would match too", () => {
  const policy = [retrier({ MaxAttempts: 1 }), retrier({ ErrorEquals: ["States.ALL"] })];
  expect(decideRetry(policy, [0, 0], "A", never)).toMatchObject({ retrier: 0 });
  expect(decideRetry(policy, [1, 0], "A", never)).toEqual({ kind: "give-up" });
  expect(decideRetry(policy, [1, 0], "B", never)).toMatchObject({ retrier: 1 });
});

test("MaxAttempts 0 means never again", () => {
  expect(decideRetry([retrier({ MaxAttempts: 0 }), retrier()], [0, 0], "A", never)).toEqual({ kind: "give-up" });
});
