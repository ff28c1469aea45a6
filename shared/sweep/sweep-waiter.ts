import { ApprovalOutcome } from "../approval/approval.ts";
import { readSubject } from "../approval/read-subject.ts";
import { dueNotice } from "../notify/notice-times.ts";
import { tellApprovers } from "../notify/tell-approvers.ts";
import { unpackValue } from "../payloads/claim-check.ts";
import { isoTime } from "../ports/clock.ts";
import { answerApproval, wakeAnswered } from "../run/answer-waiter.ts";
import { concludeVotes } from "../run/decide-approval.ts";
import { wakeRunOf } from "../run/resolve-operation.ts";
import { isCalledOff, sendHome } from "../run/send-home.ts";
import { Position } from "../runlog/position.ts";
import type { WaiterKey } from "../runlog/run-log.ts";
import { isAwaited, type Waiter } from "../waiter/waiter.ts";
import type { SweepDeed, SweepPorts } from "./sweep-ports.ts";

/** Tells a waiter the answer that it was not told, or lets its time run out. */
export async function sweepWaiter({ run_id, position }: WaiterKey, ports: SweepPorts): Promise<SweepDeed> {
  const waiter = await ports.log.readWaiter(run_id, Position.parse(position));
  if (waiter?.status !== "OPEN") return "nothing";
  const run = await ports.log.readRun(run_id);
  if (!run || isCalledOff(waiter, run)) return (await sendHome(waiter, ports)) === "woken" ? "woken" : "nothing";
  switch (waiter.kind) {
    case "approval":
      return sweepApproval(waiter, ports);
    case "resolution":
    case "delivery":
      return sweepResolution(waiter, ports);
    default:
      return waiter.kind satisfies never;
  }
}

async function sweepApproval(waiter: Waiter, ports: SweepPorts): Promise<SweepDeed> {
  const step = await ports.log.readStep(waiter.run_id, waiter.position);
  if (step) {
    await wakeAnswered(waiter, ApprovalOutcome.parse(await unpackValue(ports.payloads, step.output)), ports);
    return "woken";
  }
  // Whoever cast the last vote that was needed may have died before it was written as the decision.
  const voted = Object.keys(waiter.votes ?? {}).length > 0;
  const concluded = voted && (await concludeVotes(waiter, await readSubject(waiter, ports.payloads), ports));
  if (concluded) return "woken";
  const nowMs = ports.clock.nowMs();
  if (nowMs <= Date.parse(waiter.expires_at)) return tellWhatIsDue(waiter, nowMs, ports);
  const { outcome } = await answerApproval(waiter, { outcome: "expired", at: isoTime(nowMs) }, ports);
  if (outcome.outcome !== "expired") return "woken";
  ports.metrics.add("waiter_overdue_total", { agent: waiter.agent, node: waiter.node });
  return "expired";
}

/** People are reminded, or told what whoever asked could not tell them. */
async function tellWhatIsDue(waiter: Waiter, nowMs: number, ports: SweepPorts): Promise<SweepDeed> {
  const due = dueNotice(waiter, nowMs);
  if (due === undefined || !ports.notices) return "nothing";
  const { sent } = await tellApprovers(waiter, due, { ...ports, notices: ports.notices });
  return sent.length > 0 ? "told" : "nothing";
}

/** The ledger has the answer: whoever waits for an operation is told once it is no longer what they wait for. */
async function sweepResolution(waiter: Waiter, ports: SweepPorts): Promise<SweepDeed> {
  const entry = waiter.operation_id === undefined ? undefined : await ports.ledger.read(waiter.operation_id);
  if (!entry || isAwaited(waiter, entry.status)) return "nothing";
  await wakeRunOf(entry, ports);
  return "woken";
}
