import { ApprovalOutcome } from "../../shared/approval/approval.ts";
import { readSubject } from "../../shared/approval/read-subject.ts";
import { unpackValue } from "../../shared/payloads/claim-check.ts";
import type { RunPorts } from "../../shared/run/ports.ts";
import type { RunHistory } from "../../shared/runlog/run-log.ts";
import { END } from "../../shared/runlog/step.ts";
import { type Waiter, waiterId } from "../../shared/waiter/waiter.ts";
import type { EarlierApproval, ShownApproval, ShownVote } from "../pages/shown-approval.ts";
import { type ApprovalShown, approvalView } from "./approval-view.ts";

/** An approval as its page shows it, beside what was decided before where it asks again, and what is asked now where it counts no more. */
export async function showApproval(waiter: Waiter, ports: RunPorts): Promise<ShownApproval> {
  const [view, history] = await Promise.all([approvalView(waiter, ports), ports.log.read(waiter.run_id)]);
  const before = await earlierApproval(waiter, history, ports);
  return {
    ...shownOf(view),
    goesOnRejected: waiter.routes["rejected"] !== END,
    ...(before && { before }),
    ...(waiter.superseded && { askedAnew: askedAnew(waiter, history) }),
  };
}

/** The same without what came before and after: a list needs none. */
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
      outcome: decision.outcome,
      by: decision.by,
      at: decision.at,
      comment: decision.comment,
    },
  };
}

type History = RunHistory | undefined;

/** The newest question of the same node behind this one. */
function askedAnew(waiter: Waiter, history: History): string | undefined {
  const later = (history?.waiters ?? []).findLast(
    ({ kind, node, position }) => kind === "approval" && node === waiter.node && position > waiter.position,
  );
  return later && waiterId(later.run_id, later.position);
}

/** The newest decision on the same operation that was made by this node's question before. Another node's own question is no earlier one. */
async function earlierApproval(
  waiter: Waiter,
  history: History,
  { payloads }: RunPorts,
): Promise<EarlierApproval | undefined> {
  if (waiter.operation_id === undefined) return undefined;
  const asked = (history?.waiters ?? [])
    .filter(({ kind, node }) => kind === "approval" && node === waiter.node)
    .filter(({ operation_id: id, position }) => id === waiter.operation_id && position < waiter.position);
  for (const earlier of asked.reverse()) {
    const step = history?.steps.find(({ position }) => position === earlier.position);
    const decided = step && ApprovalOutcome.parse(await unpackValue(payloads, step.output));
    if (decided?.outcome !== "approved" && decided?.outcome !== "rejected") continue;
    const { view } = await readSubject(earlier, payloads);
    const { outcome, by, at, comment } = decided;
    return { view, outcome, by, at, comment, superseded: earlier.superseded };
  }
  return undefined;
}
