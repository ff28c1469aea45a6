import { describe, expect, it } from "vitest";
import { boundedCall } from "../../../shared/operation/bounded-call.ts";
import { ManualClock, noonMs } from "../../builders/manual-clock.ts";

describe("a call with a deadline", () => {
  const deadlineMs = noonMs + 1_000;

  it("gives what came in time, and leaves no timer behind", async () => {
    const clock = new ManualClock();
    expect(await boundedCall(clock, deadlineMs, async () => 7)).toEqual({ kind: "returned", value: 7 });
    clock.advance(10_000);
  });

  it("gives what was thrown, also before the first await", async () => {
    const clock = new ManualClock();
    const broken = new Error("no");
    const call = () => {
      throw broken;
    };
    expect(await boundedCall(clock, deadlineMs, call)).toEqual({ kind: "threw", error: broken });
  });

  it("is aborted at the deadline, and one that ends on it has settled", async () => {
    const clock = new ManualClock();
    const end = boundedCall(clock, deadlineMs, (signal) => {
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    });
    clock.advance(1_000);
    expect(await end).toEqual({ kind: "timed_out", unsettled: false });
  });

  it("that ignores the abort has not settled a quarter of a second later", async () => {
    const clock = new ManualClock();
    const end = boundedCall(clock, deadlineMs, () => new Promise(() => undefined));
    clock.advance(1_250);
    expect(await end).toEqual({ kind: "timed_out", unsettled: true });
  });

  it("that still succeeds within the grace has succeeded: a success counts", async () => {
    const clock = new ManualClock();
    let answer: (value: string) => void = () => undefined;
    const end = boundedCall(clock, deadlineMs, () => new Promise<string>((resolve) => (answer = resolve)));
    await clock.timerOf(1_000);
    clock.advance(1_100);
    answer("yes");
    expect(await end).toEqual({ kind: "returned", value: "yes" });
  });

  it("without any time left is aborted at once", async () => {
    const clock = new ManualClock();
    const end = boundedCall(clock, noonMs - 5, () => new Promise(() => undefined));
    clock.advance(250);
    expect(await end).toEqual({ kind: "timed_out", unsettled: true });
  });
});
