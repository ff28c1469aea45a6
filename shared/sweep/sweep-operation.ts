import type { LedgerEntry } from "../ledger/ledger-entry.ts";
import { wakeRunOf } from "../run/resolve-operation.ts";
import { nodeAt, Position } from "../runlog/position.ts";
import { stillWants } from "../runlog/run-record.ts";
import type { SweepDeed, SweepPorts } from "./sweep-ports.ts";

/** A queued request that has not been started for this long was lost on its way: a queue delivers within seconds. */
export const queuedTooLongMs = 2 * 60_000;

/** Finds out about one operation that is not settled, without its run. The index is eventually consistent: the entry is read again. */
export async function sweepOperation(
  indexed: { readonly operation_id: string },
  ports: SweepPorts,
): Promise<SweepDeed> {
  const entry = await ports.ledger.read(indexed.operation_id);
  if (!entry) return "nothing";
  switch (entry.status) {
    case "STARTED":
      return isLapsed(entry, ports) ? reconcile(entry, ports) : "nothing";
    case "UNKNOWN":
      // It may have become knowable: a late commit shows up when it is asked for.
      return entry.capability === "none" ? "nothing" : reconcile(entry, ports);
    case "PENDING":
      return resend(entry, ports);
    case "SUCCEEDED":
    case "FAILED_RETRYABLE":
    case "FAILED_FINAL":
      return "nothing";
    default:
      return entry.status satisfies never;
  }
}

function isLapsed(entry: LedgerEntry, { clock }: SweepPorts): boolean {
  const until = Math.max(timeOf(entry.lease_until), timeOf(entry.not_before));
  return clock.nowMs() >= until;
}

const timeOf = (iso: string | undefined): number => (iso === undefined ? 0 : Date.parse(iso));

async function reconcile(entry: LedgerEntry, ports: SweepPorts): Promise<SweepDeed> {
  if (entry.function_arn === undefined) return "nothing";
  await ports.functions.reconcile(entry.function_arn, entry.operation_id);
  const after = await ports.ledger.read(entry.operation_id);
  if (!after || after.status === entry.status) return "nothing";
  await wakeRunOf(after, ports);
  return "reconciled";
}

async function resend(entry: LedgerEntry, ports: SweepPorts): Promise<SweepDeed> {
  const lost = entry.delivery === "queue" && ports.clock.nowMs() - timeOf(entry.updated_at) > queuedTooLongMs;
  if (!lost || !(await isWaitedFor(entry, ports))) return "nothing";
  await ports.queue.send({ operationId: entry.operation_id, group: entry.business_key, attempt: entry.attempt });
  return "resent";
}

/** Its run handed it out, and waits. One that still waits for an approval, gave up, or has ended must not have it sent. */
async function isWaitedFor({ run_id, operation_id, position }: LedgerEntry, { log }: SweepPorts): Promise<boolean> {
  const history = await log.read(run_id);
  if (!history || !stillWants(history.run, nodeAt(Position.parse(position)))) return false;
  return history.waiters.some(
    (waiter) => waiter.kind === "delivery" && waiter.status === "OPEN" && waiter.operation_id === operation_id,
  );
}
