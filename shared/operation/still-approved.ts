import { commitMarginMs } from "../compile/node-time.ts";
import { ApprovalSubject } from "../approval/approval.ts";
import { checkApproval } from "../approval/check-approval.ts";
import { changedMembers, readSnapshot } from "../approval/read-snapshot.ts";
import { SentBack } from "../faults/faults.ts";
import { unpackValue } from "../payloads/claim-check.ts";
import { digestOf } from "./canonical-json.ts";
import type { Guard, OperationCall, OperationPorts, PreparedRequest } from "./operation-call.ts";
import { userCode } from "../run/user-code.ts";

/**
 * Whether every approval of a write still authorises exactly this request: what was asked, the code that asks, the time. Asked right
 * before the claim. @throws SentBack with the approval and the reason; Fault `not_approved` where it never was a yes.
 */
export function stillApproved(call: OperationCall, { operation }: PreparedRequest, { clock }: OperationPorts): void {
  for (const { node, outcome, waiter, now } of call.approvals) {
    const stale = (reason: SentBack["reason"], comment?: string) =>
      new SentBack(call.node.name, reason, comment, node.name);
    // Once it failed its check it counts no more, even if the world is back as it was.
    if (waiter?.superseded) throw stale(waiter.superseded.reason, waiter.superseded.comment);
    const { request_hash: payload_digest, tool_version } = operation;
    const reason = checkApproval(outcome, { ...now, payload_digest, tool_version }, clock.nowMs());
    if (reason) throw stale(reason);
    // Nobody was asked, and for what is sent now somebody would be.
    const required = () => userCode(node.name, "when", () => node.when?.(call.state) ?? true);
    if (outcome.outcome === "not_required" && required()) throw stale("digest_changed");
  }
}

/**
 * Whether the business data behind every decision is what it was. Precondition: nothing may have been sent, else the effect's own success
 * may be the change. @throws SentBack `snapshot_changed`.
 */
export async function sameSnapshots(call: OperationCall, ports: OperationPorts): Promise<void> {
  for (const guard of call.approvals) {
    const { node, outcome } = guard;
    const wasBound = outcome.outcome === "approved" && (node.snapshot !== undefined || outcome.snapshot_digest);
    if (!wasBound) continue;
    const snapshot = await readSnapshot(node, call.state, call.killedAtMs - commitMarginMs, ports.clock);
    if (snapshot && digestOf(snapshot.value) === outcome.snapshot_digest) continue;
    const changed = snapshot && (await changedSince(guard, snapshot.value, ports));
    throw new SentBack(call.node.name, "snapshot_changed", changed && `changed: ${changed}`, node.name);
  }
}

async function changedSince({ waiter }: Guard, value: unknown, ports: OperationPorts): Promise<string | undefined> {
  const subject = waiter && ApprovalSubject.safeParse(await unpackValue(ports.payloads, waiter.subject));
  return subject?.success ? changedMembers(subject.data.snapshot, value) : undefined;
}
