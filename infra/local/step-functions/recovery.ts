import { caughtOutput, findCatcher } from "./catch.ts";
import type { Json } from "./json.ts";
import { decideRetry } from "./retry.ts";
import { Cancelled } from "./scope.ts";
import { PathFailure, StateFailure } from "./state-failure.ts";
import type { Catcher, Retrier } from "./state-schema.ts";
import type { Visit } from "./visit.ts";

interface RecoveryPolicy {
  readonly Retry: readonly Retrier[];
  readonly Catch: readonly Catcher[];
}

export type Recovered =
  | { readonly kind: "done"; readonly output: Json }
  | { readonly kind: "caught"; readonly output: Json; readonly next: string };

/** Tries a state until it succeeds, is caught, or fails for good. `onGiveUp` runs when no retry is left.
 *  @throws StateFailure when nothing catches it. */
export async function withRecovery(
  policy: RecoveryPolicy,
  visit: Visit,
  rawInput: Json,
  attempt: () => Promise<Json>,
  onGiveUp: () => void = () => {},
): Promise<Recovered> {
  const { run, scope } = visit.thread;
  const used = policy.Retry.map(() => 0);
  for (;;) {
    try {
      return { kind: "done", output: await attempt() };
    } catch (thrown) {
      const failure = toStateFailure(thrown, visit);
      const decision = decideRetry(policy.Retry, used, failure.error, run.ports.random);
      if (decision.kind === "retry") {
        used[decision.retrier] = (used[decision.retrier] ?? 0) + 1;
        await scope.sleep(run.ports.timers, decision.delayMs);
        visit.retryCount += 1;
        run.transitions += 1;
        continue;
      }
      onGiveUp();
      const catcher = findCatcher(policy.Catch, failure.error);
      if (catcher === undefined) throw failure;
      return { kind: "caught", output: caughtOutput(catcher, rawInput, failure), next: catcher.Next };
    }
  }
}

/** Everything a state can throw, as its error. @throws Cancelled unchanged: the end of a thread is not a state's error. */
export function toStateFailure(thrown: unknown, visit: Visit): StateFailure {
  if (thrown instanceof StateFailure) return thrown;
  if (thrown instanceof Cancelled) throw thrown;
  const reason = thrown instanceof PathFailure ? thrown.message : `The engine failed: ${String(thrown)}`;
  return new StateFailure(
    "States.Runtime",
    `An error occurred while executing the state '${visit.name}' (entered at the event id #${visit.enteredEventId}). ${reason}`,
  );
}
