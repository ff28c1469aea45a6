import type { ApprovalView } from "../../shared/approval/approval-view.ts";
import type { StaleReason } from "../../shared/approval/approval.ts";

/** One person's word on an approval. */
export interface ShownVote {
  readonly word: string;
  readonly by: string;
  readonly known_by: string;
  readonly at: string;
  readonly comment?: string | undefined;
}

/** An approval as a page shows it: what the store holds, without anything secret. */
export interface ShownApproval {
  readonly approval_id: string;
  /** `pending`, or the outcome. */
  readonly status: string;
  readonly run_id: string;
  readonly workflow_id: string;
  readonly agent: string;
  readonly action_name: string;
  readonly operation_id: string;
  readonly payload_digest: string;
  readonly risk: string;
  readonly view: ApprovalView;
  readonly requested_at: string;
  readonly expires_at: string;
  readonly requested_by?: string | undefined;
  /** Who may decide, in words. */
  readonly rule: string;
  /** Different people who have to say yes. */
  readonly quorum: number;
  /** Oldest first. */
  readonly votes: readonly ShownVote[];
  /** Whose word ended it, where it has ended: nobody's for an expiry. */
  readonly decision?: ShownDecision | undefined;
  /** Why it counts no more, whatever was decided. */
  readonly superseded?: ShownSuperseded | undefined;
  /** The newest question of the same node, where this one was asked anew. */
  readonly askedAnew?: string | undefined;
  /** Whether the run goes on after a no, so that the agent reads the comment. */
  readonly goesOnRejected?: boolean | undefined;
  /** What was decided before about the same operation, where this asks again. */
  readonly before?: EarlierApproval | undefined;
}

export interface ShownSuperseded {
  readonly reason: StaleReason;
  readonly comment?: string | undefined;
  readonly at: string;
}

export interface ShownDecision {
  readonly outcome: string;
  readonly by?: string | undefined;
  readonly at: string;
  readonly comment?: string | undefined;
}

export interface EarlierApproval extends ShownDecision {
  readonly outcome: "approved" | "rejected";
  readonly view: ApprovalView;
  readonly superseded?: ShownSuperseded | undefined;
}
