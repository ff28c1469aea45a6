import { ruleInWords } from "../../shared/approval/approver-rule.ts";
import { readSubject } from "../../shared/approval/read-subject.ts";
import type { RunPorts } from "../../shared/run/ports.ts";
import { type Waiter, waiterId, waiterVersion } from "../../shared/waiter/waiter.ts";
import { standingOf } from "./approval-status.ts";

/** What a reviewer sees. The task token is a secret and never part of it. */
export async function approvalView(waiter: Waiter, ports: RunPorts) {
  const [subject, { status, decision }] = await Promise.all([
    readSubject(waiter, ports.payloads),
    standingOf(waiter, ports),
  ]);
  return {
    approval_id: waiterId(waiter.run_id, waiter.position),
    status,
    /** Goes back with a decision as `expected_version`. */
    version: waiterVersion(waiter),
    ...(decision && { decision, resume_pending: waiter.status === "OPEN" }),
    ...(waiter.superseded && { superseded: waiter.superseded }),
    run_id: waiter.run_id,
    workflow_id: waiter.workflow_id,
    agent: waiter.agent,
    node: waiter.node,
    risk: waiter.risk,
    action_name: subject.action_name,
    operation_id: subject.operation_id,
    payload_digest: subject.payload_digest,
    workflow_version: subject.workflow_version,
    tool_version: subject.tool_version,
    prompt_versions: subject.prompt_versions,
    snapshot: subject.snapshot,
    view: subject.view,
    approvers: { ...subject.approvers, in_words: ruleInWords(subject.approvers) },
    requested_by: subject.requested_by,
    /** Who has said yes so far, where more than one has to. */
    votes: Object.values(waiter.votes ?? {}).sort((a, b) => a.at.localeCompare(b.at)),
    requested_at: waiter.requested_at,
    expires_at: waiter.expires_at,
  };
}
export type ApprovalShown = Awaited<ReturnType<typeof approvalView>>;
