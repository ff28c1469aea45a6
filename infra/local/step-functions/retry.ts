import { matchesError } from "./error-names.ts";
import type { Retrier } from "./state-schema.ts";

export type RetryDecision =
  | { readonly kind: "retry"; readonly retrier: number; readonly delayMs: number }
  /** No retrier matches, or the one that does has used up its attempts: later retriers are not asked. */
  | { readonly kind: "give-up" };

/** `used[i]` counts the retries that retrier `i` has granted since the state was entered. `random` is in [0, 1). */
export function decideRetry(
  retriers: readonly Retrier[],
  used: readonly number[],
  error: string,
  random: () => number,
): RetryDecision {
  const index = retriers.findIndex((retrier) => matchesError(retrier.ErrorEquals, error));
  const retrier = retriers[index];
  if (retrier === undefined) return { kind: "give-up" };
  const retriesBefore = used[index] ?? 0;
  if (retriesBefore >= retrier.MaxAttempts) return { kind: "give-up" };
  const ceilingMs = backoffSeconds(retrier, retriesBefore) * 1000;
  const delayMs = retrier.JitterStrategy === "FULL" ? random() * ceilingMs : ceilingMs;
  return { kind: "retry", retrier: index, delayMs: Math.round(delayMs) };
}

function backoffSeconds(retrier: Retrier, retriesBefore: number): number {
  const grown = retrier.IntervalSeconds * retrier.BackoffRate ** retriesBefore;
  return Math.min(grown, retrier.MaxDelaySeconds ?? BACKOFF_SECONDS_MAX);
}

/** An unbounded power soon exceeds any timer; a year is the longest an execution may take at all. */
const BACKOFF_SECONDS_MAX = 31_536_000;
