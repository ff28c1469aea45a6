import { z } from "zod";
import { ApprovalView } from "./approval-view.ts";
import { anyone, ApproverRule } from "./approver-rule.ts";
import { Person } from "./person.ts";

/** What a decision is about, and all it relies on. A decision counts for exactly this, and for nothing that merely looks like it. */
export const Binding = z.object({
  /** Request hash of the write it authorises: digest of the declared semantic fields. */
  payload_digest: z.string(),
  tool_version: z.number().int(),
  workflow_version: z.number().int().optional(),
  /** Of the model nodes whose answers led here: `{ [node]: name@release }`. Prompts of nodes that come later change nothing. */
  prompt_versions: z.record(z.string(), z.string()).optional(),
  /** Digest of the business data that was read when it was asked; absent where the approval declares none. */
  snapshot_digest: z.string().optional(),
});
export type Binding = z.infer<typeof Binding>;

/** What an approval is bound to and what its reviewer sees: the waiter's subject. Frozen when it is asked. */
export const ApprovalSubject = Binding.extend({
  view: ApprovalView,
  operation_id: z.string(),
  action_name: z.string(),
  /** The business data itself. */
  snapshot: z.unknown().optional(),
  approvers: ApproverRule.default(anyone),
  /** Who started the run. */
  requested_by: Person.optional(),
});
export type ApprovalSubject = z.infer<typeof ApprovalSubject>;

export const Decision = z.enum(["approve", "reject"]);
export type Decision = z.infer<typeof Decision>;

/** One person's yes. */
export const Vote = Person.extend({ at: z.string(), comment: z.string().optional() });
export type Vote = z.infer<typeof Vote>;

/**
 * The output of an approval node, and the record of who decided what.
 * - `not_required`: the agent's own condition says that nobody need be asked.
 * - `cancelled`: somebody withdrew the question. `expired`: nobody answered in time.
 * - `superseded`: what was asked is no longer what would be sent, so it is asked anew.
 * `valid_until` bounds the dispatch, not only the click.
 */
export const ApprovalOutcome = Binding.partial().extend({
  outcome: z.enum(["approved", "rejected", "expired", "cancelled", "superseded", "not_required"]),
  /** The approval it answers; absent where nobody was asked. */
  approval_id: z.string().optional(),
  valid_until: z.string().optional(),
  by: z.string().optional(),
  known_by: z.string().optional(),
  /** The rule that said yes in a person's place. */
  policy: z.string().optional(),
  comment: z.string().optional(),
  /** Everybody who said yes, where more than one had to. `by` is then the last of them. */
  votes: z.array(Vote).optional(),
  at: z.string(),
});
export type ApprovalOutcome = z.infer<typeof ApprovalOutcome>;

/** Why a decision no longer holds at dispatch. */
export const StaleReason = z.enum([
  "digest_changed",
  "version_changed",
  "expired",
  "precondition_failed",
  "snapshot_changed",
]);
export type StaleReason = z.infer<typeof StaleReason>;

/** A decision, or a question, that counts no more. */
export const Superseded = z.object({ reason: StaleReason, comment: z.string().optional(), at: z.string() });
export type Superseded = z.infer<typeof Superseded>;

/** What a node that is asked again sees: who turned the last attempt back, and in which words. */
export const Rejection = z.object({
  node: z.string(),
  reason: z.union([z.enum(["rejected", "expired", "cancelled"]), StaleReason]),
  comment: z.string().optional(),
  by: z.string().optional(),
});
export type Rejection = z.infer<typeof Rejection>;
