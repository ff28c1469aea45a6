import type { Clock } from "../ports/clock.ts";

/** How a call ended within its time. `unsettled`: it ignored the abort and is still running. */
export type CallEnd<T> =
  | { readonly kind: "returned"; readonly value: T }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "timed_out"; readonly unsettled: boolean };

/** Time a call has to react to the abort before it counts as still running. */
const abortGraceMs = 250;

/** Runs one call until `deadlineMs` (epoch), then aborts it. Never throws. */
export function boundedCall<T>(
  clock: Clock,
  deadlineMs: number,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<CallEnd<T>> {
  return new Promise((resolve) => {
    const controller = new AbortController();
    let timedOut = false;
    const cancels: (() => void)[] = [];
    const end = (result: CallEnd<T>) => {
      for (const cancel of cancels) cancel();
      resolve(result);
    };
    cancels.push(
      clock.after(Math.max(0, deadlineMs - clock.nowMs()), () => {
        timedOut = true;
        cancels.push(clock.after(abortGraceMs, () => end({ kind: "timed_out", unsettled: true })));
        controller.abort(new DOMException("the call's time is up", "TimeoutError"));
      }),
    );
    // `async` so that a tool that throws before its first await is a rejection like any other.
    const run = async () => call(controller.signal);
    run().then(
      (value) => end({ kind: "returned", value }),
      (error: unknown) => end(timedOut ? { kind: "timed_out", unsettled: false } : { kind: "threw", error }),
    );
  });
}
