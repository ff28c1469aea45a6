import { ApprovalOutcome } from "../../shared/approval/approval.ts";
import { readSubject } from "../../shared/approval/read-subject.ts";
import { unpackValue } from "../../shared/payloads/claim-check.ts";
import type { RunPorts } from "../../shared/run/ports.ts";
import type { Waiter } from "../../shared/waiter/waiter.ts";
import type { EarlierApproval, ShownApproval, ShownVote } from "../pages/shown-approval.ts";
import { type ApprovalShown, approvalView } from "./approval-view.ts";

/** An approval as its page shows it, beside what was approved before where it asks again. */
export async function showApproval(waiter: Waiter, ports: RunPorts): Promise<ShownApproval> {
  const [view, before] = await Promise.all([approvalView(waiter, ports), earlierApproval(waiter, ports)]);
  return { ...shownOf(view), ...(before && { before }) };
}

/** The same without what was approved before: a list needs none. */
export function shownOf(approval: ApprovalShown): ShownApproval {
  const { decision, approvers } = approval;
  const yes = decision?.votes ?? approval.votes;
  const votes: readonly ShownVote[] = yes.map((vote) => ({ word: "approved", ...vote }));
  return {
    ...approval,
    risk: approval.risk ?? "unknown",
    requested_by: approval.requested_by?.by,
    rule: approvers.in_words,
    quorum: approvers.quorum,
    votes,
    decision: decision && {
      outcome: approval.superseded ? "superseded" : decision.outcome,
      by: decision.by,
      at: approval.superseded?.at ?? decision.at,
      comment: decision.comment,
    },
  };
}

/** The newest decision of the same run on the same operation that was a yes, before this question. */
async function earlierApproval(waiter: Waiter, { log, payloads }: RunPorts): Promise<EarlierApproval | undefined> {
  if (waiter.operation_id === undefined) return undefined;
  const history = await log.read(waiter.run_id);
  const asked = (history?.waiters ?? [])
    .filter(({ kind, operation_id: id }) => kind === "approval" && id === waiter.operation_id)
    .filter(({ position }) => position < waiter.position);
  for (const earlier of asked.reverse()) {
    const step = history?.steps.find(({ position }) => position === earlier.position);
    const outcome = step && ApprovalOutcome.parse(await unpackValue(payloads, step.output));
    if (outcome?.outcome !== "approved") continue;
    const { view } = await readSubject(earlier, payloads);
    return { view, outcome: outcome.outcome, by: outcome.by, at: outcome.at, comment: outcome.comment };
  }
  return undefined;
}
