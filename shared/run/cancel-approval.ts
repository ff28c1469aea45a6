import type { ApprovalOutcome } from "../approval/approval.ts";
import type { Person } from "../approval/person.ts";
import { BadRequest } from "../faults/faults.ts";
import { isoTime } from "../ports/clock.ts";
import { stillWants, standingOf } from "../runlog/run-record.ts";
import { type Waiter, waiterId } from "../waiter/waiter.ts";
import { answerApproval, type Told } from "./answer-waiter.ts";
import type { DecidePorts } from "./decide-approval.ts";

export interface CancelledApproval {
  readonly outcome: ApprovalOutcome;
  /** False where it was withdrawn before. */
  readonly changed: boolean;
  readonly wake: Told;
}

/**
 * Withdraws a question that nobody has answered: nothing is sent, and the run goes where an expired one goes, with these words. Safe to
 * repeat: it makes sure that the run wakes. @throws BadRequest 409 where it was answered, or its run has ended.
 */
export async function cancelApproval(
  waiter: Waiter,
  { by, known_by }: Person,
  comment: string | undefined,
  ports: DecidePorts,
): Promise<CancelledApproval> {
  const id = waiterId(waiter.run_id, waiter.position);
  const [step, run] = await Promise.all([
    ports.log.readStep(waiter.run_id, waiter.position),
    ports.log.readRun(waiter.run_id),
  ]);
  if (!step && (!run || !stillWants(run, waiter.node))) {
    throw new BadRequest(
      "run_ended",
      `approval ${id} belongs to a run that is ${standingOf(run)}: nothing was changed`,
      409,
    );
  }
  const at = isoTime(ports.clock.nowMs());
  const mine: ApprovalOutcome = { outcome: "cancelled", by, known_by, at, ...(comment !== undefined && { comment }) };
  const { mine: changed, outcome, wake } = await answerApproval(waiter, mine, ports);
  if (outcome.outcome === "cancelled") return { outcome, changed, wake };
  const who = outcome.by === undefined ? "" : ` by ${outcome.by}`;
  throw new BadRequest(
    "already_decided",
    `approval ${id} was ${outcome.outcome}${who} at ${outcome.at}: that counts, and nothing was changed. surefoot cancel ${waiter.run_id} ends its run`,
    409,
  );
}
