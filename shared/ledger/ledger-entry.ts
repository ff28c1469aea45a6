import { z } from "zod";
import { FaultRecord } from "../faults/fault.ts";
import { OperationId } from "../operation/operation-id.ts";
import { PackedValue } from "../payloads/claim-check.ts";

/**
 * - PENDING: the request is written, nothing was sent.
 * - STARTED: an attempt was claimed; it may have been sent. After `lease_until` it cannot still be running.
 * - SUCCEEDED: it happened. FAILED_RETRYABLE, FAILED_FINAL: it did not happen.
 * - UNKNOWN: it may have happened; only the reconciler or a person leaves this state.
 */
export const OperationStatus = z.enum([
  "PENDING",
  "STARTED",
  "SUCCEEDED",
  "FAILED_RETRYABLE",
  "FAILED_FINAL",
  "UNKNOWN",
]);
export type OperationStatus = z.infer<typeof OperationStatus>;

export const settledStatuses: readonly OperationStatus[] = ["SUCCEEDED", "FAILED_FINAL"];

/** `key`: the other side dedupes by our key. `query`: it can be asked. `none`: neither. */
export const Capability = z.enum(["key", "query", "none"]);
export type Capability = z.infer<typeof Capability>;

export const Risk = z.enum(["low", "medium", "high"]);
export type Risk = z.infer<typeof Risk>;

/** `direct`: the run calls. `queue`: one reliable worker calls. `human`: a person does it and records the reference. */
export const Delivery = z.enum(["direct", "queue", "human"]);
export type Delivery = z.infer<typeof Delivery>;

/** A success that does not fit what was decided before it. It is shown, never dropped. */
export const Contradiction = z.object({
  kind: z.enum(["late_success", "second_success"]),
  /** What the entry said when the success arrived. */
  status_then: OperationStatus,
  external_ref: z.string().optional(),
  response_hash: z.string(),
  at: z.string(),
});
export type Contradiction = z.infer<typeof Contradiction>;

/** Who cleared a doubt, when and why. `by` is `reconciler` or a person. */
export const Resolution = z.object({ outcome: OperationStatus, by: z.string(), evidence: z.string(), at: z.string() });
export type Resolution = z.infer<typeof Resolution>;

/** One logical side effect. Times are ISO 8601 UTC. */
export const LedgerEntry = z.object({
  operation_id: OperationId,
  run_id: z.string(),
  workflow_id: z.string(),
  agent: z.string(),
  action_name: z.string(),
  business_key: z.string(),
  position: z.string(),
  /** The pinned function that can look into it with the run's own code: set by whoever claims or proposes. */
  function_arn: z.string().optional(),
  /** How it reaches the other side. */
  delivery: Delivery.optional(),
  /** The frozen request: later attempts send exactly this, since the other side compares it under the same key. */
  request: PackedValue,
  request_hash: z.string(),
  status: OperationStatus,
  tool_version: z.number().int(),
  risk: Risk,
  capability: Capability,
  /** Attempts claimed so far, counted before the call: a process that dies spends budget. */
  attempt: z.number().int().nonnegative(),
  /** Attempts spent when a person gave another chance: the budget counts from here. */
  attempts_granted: z.number().int().nonnegative().optional(),
  attempt_token: z.string().optional(),
  lease_until: z.string().optional(),
  first_sent_at: z.string().optional(),
  /** Earliest next attempt, from a server's `retry-after`. */
  not_before: z.string().optional(),
  /** Whether any attempt that ended may have applied. Once true, only a lookup, a keyed replay or a person clears it. */
  may_have_applied: z.boolean(),
  external_ref: z.string().optional(),
  /** Named `result_json` in the table when it is inline. */
  result: PackedValue.optional(),
  response_hash: z.string().optional(),
  committed_at: z.string().optional(),
  error: FaultRecord.optional(),
  resolution: Resolution.optional(),
  contradictions: z.array(Contradiction).optional(),
  created_at: z.string(),
  updated_at: z.string(),
  version: z.number().int().positive(),
  write_id: z.string(),
});
export type LedgerEntry = z.infer<typeof LedgerEntry>;

/** Attempts that count against the tool's budget now. */
export const attemptsSpent = (entry: LedgerEntry): number => entry.attempt - (entry.attempts_granted ?? 0);
