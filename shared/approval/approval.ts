import { z } from "zod";
import { ApprovalView } from "./approval-view.ts";

/** What an approval is bound to: the waiter's subject. */
export const ApprovalSubject = z.object({
  view: ApprovalView,
  /** Request hash of the write it authorises. */
  payload_digest: z.string(),
  operation_id: z.string(),
  action_name: z.string(),
  tool_version: z.number().int(),
});
export type ApprovalSubject = z.infer<typeof ApprovalSubject>;

export const Decision = z.enum(["approve", "reject"]);
export type Decision = z.infer<typeof Decision>;

/**
 * The output of an approval node, and the record of who decided what. `not_required` and `expired` carry no person.
 * `valid_until` bounds the dispatch, not only the click.
 */
export const ApprovalOutcome = z.object({
  outcome: z.enum(["approved", "rejected", "expired", "not_required"]),
  payload_digest: z.string().optional(),
  tool_version: z.number().int().optional(),
  valid_until: z.string().optional(),
  by: z.string().optional(),
  /** How the person was known: `iam`, or `claimed` where the caller only said so. */
  known_by: z.string().optional(),
  comment: z.string().optional(),
  at: z.string(),
});
export type ApprovalOutcome = z.infer<typeof ApprovalOutcome>;

/** Why a decision no longer holds at dispatch. */
export const StaleReason = z.enum(["digest_changed", "version_changed", "expired", "precondition_failed"]);
export type StaleReason = z.infer<typeof StaleReason>;

/** What a node that is asked again sees: who turned the last attempt back, and in which words. */
export const Rejection = z.object({
  node: z.string(),
  reason: z.union([z.enum(["rejected", "expired"]), StaleReason]),
  comment: z.string().optional(),
  by: z.string().optional(),
});
export type Rejection = z.infer<typeof Rejection>;
