import { nodeOf } from "../agent/agent.ts";
import type { ApprovalNode, WriteNode } from "../agent/node.ts";
import { ApprovalView, higherRisk } from "../approval/approval-view.ts";
import type { ApprovalOutcome, ApprovalSubject, Binding } from "../approval/approval.ts";
import { changeOf, type Now } from "../approval/check-approval.ts";
import { codeNow } from "../approval/code-now.ts";
import { readSnapshot } from "../approval/read-snapshot.ts";
import { readSubject } from "../approval/read-subject.ts";
import { commitMarginMs } from "../compile/node-time.ts";
import { fingerprintOf } from "../contract/manifest.ts";
import { Fault } from "../faults/fault.ts";
import { OperationConflict } from "../faults/faults.ts";
import type { OperationRequest } from "../ledger/ledger.ts";
import { digestOf } from "../operation/canonical-json.ts";
import { prepareRequest } from "../operation/prepare-request.ts";
import { packValue } from "../payloads/claim-check.ts";
import { isoTime } from "../ports/clock.ts";
import type { Step } from "../runlog/step.ts";
import type { Waiter } from "../waiter/waiter.ts";
import type { NodePorts } from "./ports.ts";
import type { NodeRun } from "./node-run.ts";
import type { NodeResult } from "./step-of.ts";
import { supersedePending } from "./supersede-approval.ts";
import { userCode } from "./user-code.ts";

/** `settled`: no person need be asked. `superseded`: what stood here counts no more, and it is asked anew behind it. */
export type Asked =
  | { readonly kind: "settled"; readonly result: NodeResult }
  | { readonly kind: "superseded"; readonly step: Step }
  | { readonly kind: "asked" };

export interface Asking extends NodeRun {
  readonly line: string;
  /** The question that stands at this position, where it was asked before. */
  readonly standing: Waiter | undefined;
}

/**
 * Writes what a person is asked: first the exact request as a PENDING operation, then the waiter that shows it and is bound to it. The
 * state machine waits in a state of its own. Asked again it is the same question, unless another request or version would now be sent.
 */
export async function askApproval(node: ApprovalNode, at: Asking, ports: NodePorts): Promise<Asked> {
  if (at.standing) return askAgain(node, at.standing, at, ports);
  const required = userCode(node.name, "when", () => node.when?.(at.state) ?? true);
  if (!required) return settled(node, at, { outcome: "not_required", at: isoTime(ports.clock.nowMs()) }, ports);

  const simulated = { outcome: "approved", by: "simulation", known_by: "simulation" } as const;
  if (at.run.simulated) return settled(node, at, { ...simulated, at: isoTime(ports.clock.nowMs()) }, ports);

  const operation = await operationOf(node, at, ports);
  const snapshot = await readSnapshot(node, at.state, at.killedAtMs - commitMarginMs, ports.clock);
  const view = viewOf(node, at);
  const risk = higherRisk(operation.risk, view.risk);
  const nowMs = ports.clock.nowMs();
  const validUntil = isoTime(nowMs + node.validForMs);
  const binding: Binding = {
    ...boundTo(nowOf(at, operation)),
    ...(snapshot && { snapshot_digest: digestOf(snapshot.value) }),
  };
  const policy = risk === "high" ? undefined : node.autoApprove;
  if (policy && userCode(node.name, "autoApprove.when", () => policy.when(at.state))) {
    const by = { by: policy.policy, known_by: "policy", policy: policy.policy };
    const outcome = { outcome: "approved" as const, ...binding, ...by, valid_until: validUntil, at: isoTime(nowMs) };
    return settled(node, at, outcome, ports);
  }

  await propose(operation, ports);
  const subject: ApprovalSubject = {
    ...binding,
    view: { ...view, risk },
    operation_id: operation.operation_id,
    action_name: operation.action_name,
    ...(snapshot && { snapshot: snapshot.value }),
    approvers: node.approvers,
    ...(at.run.started_by && { requested_by: at.run.started_by }),
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
    line: at.line,
    routes: { approved: node.next, rejected: node.onReject, expired: node.onExpire, cancelled: node.onExpire },
    subject: await packValue(ports.payloads, at.run.run_id, subject),
    operation_id: operation.operation_id,
    risk,
    requested_at: isoTime(nowMs),
    expires_at: validUntil,
    status: "OPEN",
    ...(node.approvers.quorum > 1 && { votes: {} }),
    write_id: ports.ids.next(),
  });
  return { kind: "asked" };
}

/** The question stands, with its id, its time and its votes, whatever became of the execution that asked it. */
async function askAgain(node: ApprovalNode, standing: Waiter, at: Asking, ports: NodePorts): Promise<Asked> {
  const operation = await operationOf(node, at, ports);
  const reason = changeOf(await readSubject(standing, ports.payloads), nowOf(at, operation));
  if (reason === undefined) {
    await propose(operation, ports);
    return { kind: "asked" };
  }
  // Somebody may answer at this moment: then that is recorded, and fails its check at dispatch.
  return { kind: "superseded", step: await supersedePending(standing, reason, ports) };
}

const operationOf = async (node: ApprovalNode, at: Asking, ports: NodePorts): Promise<OperationRequest> => {
  const write = nodeOf(at.agent, node.of) as WriteNode;
  return (await prepareRequest({ ...at, node: write }, ports.payloads)).operation;
};

const nowOf = (at: Asking, operation: OperationRequest): Now => ({
  ...codeNow(at.agent, at.state, at.run),
  payload_digest: operation.request_hash,
  tool_version: operation.tool_version,
});

const boundTo = ({ compatible_with: _, ...now }: Now): Binding => ({
  ...now,
  prompt_versions: { ...now.prompt_versions },
});

function viewOf(node: ApprovalNode, at: Asking): ApprovalView {
  const parsed = ApprovalView.safeParse(userCode(node.name, "show", () => node.show(at.state)));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join(".") || "view"}: ${issue.message}`).join("; ");
  throw new Fault("agent_code", "final", `show of node ${node.name} returned what nobody can be shown: ${problems}`, {
    facts: { node: node.name, callback: "show" },
  });
}

async function settled(node: ApprovalNode, at: Asking, outcome: ApprovalOutcome, ports: NodePorts): Promise<Asked> {
  const output = await packValue(ports.payloads, at.run.run_id, outcome);
  return { kind: "settled", result: { outcome: "done", output, next: node.next } };
}

/** The frozen request. A PENDING one is replaced; one that was started never changes. */
async function propose(operation: OperationRequest, ports: NodePorts): Promise<void> {
  const found = await ports.ledger.read(operation.operation_id);
  if (found && found.status !== "PENDING") {
    if (found.request_hash === operation.request_hash) return;
    throw new OperationConflict(operation.operation_id, found.request_hash, operation.request_hash, found.status);
  }
  if (found?.request_hash === operation.request_hash) return;
  await ports.ledger.propose(operation, found);
}
