import { nodeOf } from "../agent/agent.ts";
import type { ApprovalNode, WriteNode } from "../agent/node.ts";
import { ApprovalView } from "../approval/approval-view.ts";
import type { ApprovalOutcome, ApprovalSubject } from "../approval/approval.ts";
import { fingerprintOf } from "../contract/manifest.ts";
import { OperationConflict } from "../faults/faults.ts";
import { prepareRequest } from "../operation/prepare-request.ts";
import { packValue } from "../payloads/claim-check.ts";
import { isoTime } from "../ports/clock.ts";
import type { NodePorts } from "./ports.ts";
import type { NodeRun } from "./run-node.ts";
import type { NodeResult } from "./step-of.ts";
import { parseOutput, userCode } from "./user-code.ts";

/** Either nobody need be asked, and the node is done, or the question is written and the run waits. */
export type Asked = { readonly kind: "not_required"; readonly result: NodeResult } | { readonly kind: "asked" };

/**
 * Writes what a person is asked: first the exact request as a PENDING operation, then the waiter that shows it and is bound to its
 * digest. The state machine waits in a state of its own. Safe to repeat: both writes keep what is there.
 */
export async function askApproval(node: ApprovalNode, line: string, at: NodeRun, ports: NodePorts): Promise<Asked> {
  const nowMs = ports.clock.nowMs();
  const required = userCode(node.name, "when", () => node.when?.(at.state) ?? true);
  if (!required) {
    const outcome: ApprovalOutcome = { outcome: "not_required", at: isoTime(nowMs) };
    const output = await packValue(ports.payloads, at.run.run_id, outcome);
    return { kind: "not_required", result: { outcome: "done", output, next: node.next } };
  }
  const write = nodeOf(at.agent, node.of) as WriteNode;
  const { operation } = await prepareRequest({ ...at, node: write }, ports.payloads);
  await propose(operation, ports);

  const view = parseOutput(
    node.name,
    ApprovalView,
    userCode(node.name, "show", () => node.show(at.state)),
  ) as ApprovalView;
  const subject: ApprovalSubject = {
    view,
    payload_digest: operation.request_hash,
    operation_id: operation.operation_id,
    action_name: operation.action_name,
    tool_version: operation.tool_version,
  };
  await ports.log.putWaiter({
    run_id: at.run.run_id,
    position: at.position,
    node: node.name,
    kind: "approval",
    agent: at.run.agent,
    workflow_id: at.run.workflow_id,
    workflow_version: at.run.workflow_version,
    fingerprint: fingerprintOf(node),
    line,
    routes: { approved: node.next, rejected: node.onReject, expired: node.onExpire },
    subject: await packValue(ports.payloads, at.run.run_id, subject),
    operation_id: operation.operation_id,
    risk: operation.risk,
    requested_at: isoTime(nowMs),
    expires_at: isoTime(nowMs + node.validForMs),
    status: "OPEN",
    write_id: ports.ids.next(),
  });
  return { kind: "asked" };
}

/** The frozen request. A PENDING one is replaced; one that was started never changes. */
async function propose(operation: Parameters<NodePorts["ledger"]["propose"]>[0], ports: NodePorts): Promise<void> {
  const found = await ports.ledger.read(operation.operation_id);
  if (found && found.status !== "PENDING") {
    if (found.request_hash === operation.request_hash) return;
    throw new OperationConflict(operation.operation_id, found.request_hash, operation.request_hash, found.status);
  }
  if (found?.request_hash === operation.request_hash) return;
  await ports.ledger.propose(operation, found);
}
