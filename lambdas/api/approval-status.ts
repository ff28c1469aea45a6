import { type ApprovalOutcome, ApprovalOutcome as Outcome } from "../../shared/approval/approval.ts";
import { unpackValue } from "../../shared/payloads/claim-check.ts";
import type { RunPorts } from "../../shared/run/ports.ts";
import type { Waiter } from "../../shared/waiter/waiter.ts";

/** How an approval stands. `superseded`: what was asked, or decided, counts no more. `cancelled`: withdrawn, or its run has ended. */
export const approvalStatuses = ["pending", "approved", "rejected", "expired", "cancelled", "superseded"] as const;
export type ApprovalStatus = (typeof approvalStatuses)[number];

export interface Standing {
  readonly status: ApprovalStatus;
  /** The answer that is recorded, whatever became of it. */
  readonly decision: ApprovalOutcome | undefined;
}

/** How an approval stands, by its answer, its waiter, and nothing else. */
export async function standingOf(waiter: Waiter, { log, payloads }: RunPorts): Promise<Standing> {
  const step = await log.readStep(waiter.run_id, waiter.position);
  const decision = step && Outcome.parse(await unpackValue(payloads, step.output));
  return { status: statusOf(waiter, decision), decision };
}

function statusOf(waiter: Waiter, decision: ApprovalOutcome | undefined): ApprovalStatus {
  if (waiter.superseded) return "superseded";
  // Whoever waited was sent home without an answer: the run was cancelled.
  if (!decision) return waiter.status === "OPEN" ? "pending" : "cancelled";
  // Nobody is asked without being asked: an answer to a waiter is never that.
  return decision.outcome === "not_required" ? "approved" : decision.outcome;
}
