import { z } from "zod";

/**
 * Every metric the package emits, with how to read it. Dimensions are agent and node or action, never a run id.
 * Units are counts unless the name ends in one.
 */
export const metricMeanings = {
  workflow_resume_total:
    "Runs that continued in a new execution. Steady growth means executions die: look at `surefoot runs --status PARKED`.",
  checkpoint_restore_failure_total:
    "A stored log could not be read back. Any value is a bug or corruption: the run is parked, nothing ran.",
  resume_latency:
    "Milliseconds from entering a Task to the first node that is not recorded. Grows if reading the log grows.",
  checkpoint_age: "Seconds since the last step when a run is resumed: how long it stood still.",
  replayed_step_total: "Recorded steps passed over on re-entry. High values mean many retries or resumes.",
  task_result_reused_total: "Recorded model or tool results returned instead of asking again: money not spent twice.",
  workflow_version_mismatch_total:
    "A record did not match the code that read it. Nothing ran; somebody deployed over open runs.",
  side_effect_duplicate_prevented_total:
    "A second attempt found the effect done, in flight, or past the deadline, and sent nothing.",
  side_effect_duplicate_detected_total:
    "Two different successes for one operation. Money may have moved twice: look now.",
  side_effect_conflict_total:
    "The same operation was asked for with another request, or a late success contradicted a decision.",
  side_effect_unknown_total: "An effect may or may not have happened and nobody knows. The alarm that matters most.",
  idempotency_key_hit_total: "The other side recognised our idempotency key and replayed its first answer.",
  reconciliation_total: "A lapsed or unknown operation was looked into (keyed replay or lookup).",
  activity_retry_total: "Attempts after the first, of nodes and operations.",
  retry_exhausted_total: "A retry budget ended. The run is parked with the reason.",
  non_retryable_failure_total: "A failure that no retry will mend.",
  requests_over_attempts_total:
    "More requests reached a tool than attempts were claimed. Must stay 0: a client retries on its own.",
  approval_wait_seconds: "Seconds from asking to deciding.",
  waiter_overdue_total: "Waits that passed their time.",
  approval_notice_total: "People or channels that were told of an approval that waits.",
  approval_notice_failed_total:
    "A channel could not tell people of an approval. The sweep tries again; while it grows, approvals wait unseen.",
  sweep_age_seconds: "Seconds since the last finished sweep.",
} as const;

export const MetricName = z.enum(
  Object.keys(metricMeanings) as [keyof typeof metricMeanings, ...(keyof typeof metricMeanings)[]],
);
export type MetricName = keyof typeof metricMeanings;

export interface MetricDimensions {
  readonly agent?: string;
  /** A node name or an action (tool) name. */
  readonly node?: string;
}

export interface Metrics {
  /** Adds `value` (default 1) to the metric. */
  add(name: MetricName, dimensions: MetricDimensions, value?: number): void;
}
