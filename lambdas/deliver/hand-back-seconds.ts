import type { LedgerEntry } from "../../shared/ledger/ledger-entry.ts";

/** How a message stands whose operation could not be delivered now. */
export interface Undelivered {
  /** Absent where the message names no operation. */
  readonly entry: LedgerEntry | undefined;
  /** This one included. */
  readonly receives: number;
  readonly receivesMax: number;
}

const firstSeconds = 10;
const factor = 3;
/** SQS's limit on a visibility timeout. */
const secondsMax = 43_200;

/**
 * Seconds until the message is received again. The queue's own time is six times the worker's, as AWS asks, so that a throttled worker
 * costs no receives. For a failure that the worker lived to report it is too long: of five receives the last came after nearly an hour,
 * and only then somebody was told. 10, 30, 90 and 270 s bring it after seven minutes. That outlasts a restart of whatever was down, and the
 * five minutes in which SQS would drop the same attempt sent again, so a run that is resumed once it is parked is not held up by them.
 *
 * A live lease is somebody else's attempt: it is asked for when that has lapsed. The last one goes to the dead letter queue at once.
 */
export function handBackSeconds({ entry, receives, receivesMax }: Undelivered, nowMs: number): number {
  if (receives >= receivesMax) return 0;
  const leaseMs = entry?.status === "STARTED" ? Date.parse(entry.lease_until ?? "") - nowMs : 0;
  // A lease's last instant still counts as live.
  if (leaseMs > 0) return Math.min(Math.ceil(leaseMs / 1_000) + 1, secondsMax);
  return Math.min(firstSeconds * factor ** (receives - 1), secondsMax);
}
