import { deliveryOf } from "../agent/tool.ts";
import { Fault } from "../faults/fault.ts";
import { ComeBackLater, HandedOut, OperationUnknown } from "../faults/faults.ts";
import type { LedgerEntry } from "../ledger/ledger-entry.ts";
import { decideRecovery } from "../operation/decide-recovery.ts";
import type { OperationCall, OperationPorts } from "../operation/operation-call.ts";
import { reconcile } from "../operation/reconcile.ts";

/** Times the entry may change under us: each change is another executor's progress. */
const changesMax = 5;

/**
 * Sees an operation of a run that is compensated to its end. Nothing is sent: what did not happen is withdrawn by the same conditional
 * write that a late attempt would need for its claim, so either that attempt is seen here or it never starts.
 * @returns the entry where it happened; `undefined` where it did not, and never will.
 * @throws ComeBackLater while an attempt is under way, HandedOut while somebody has it in hand, OperationUnknown until somebody knows.
 */
export async function concludeOperation(
  call: OperationCall,
  found: LedgerEntry,
  /** A person was told to do it, and may have. */
  withPerson: boolean,
  ports: OperationPorts,
): Promise<LedgerEntry | undefined> {
  const { tool } = call.node;
  let entry = found;
  for (let changes = 0; changes < changesMax; changes++) {
    const decision = decideRecovery(entry, entry.request_hash, ports.clock.nowMs(), tool.attemptsMax);
    switch (decision.kind) {
      case "reuse":
        return decision.entry;
      case "failed":
        return undefined;
      case "unknown":
        throw new OperationUnknown(entry.operation_id, entry.error?.message ?? "an attempt ended without an answer");
      case "reconcile": {
        const next = await reconcile(call, entry, ports);
        if (next.kind === "claimed") throw new RangeError("a run that is compensated has nothing sent again");
        entry = next.entry;
        break;
      }
      case "come_back":
      case "claim":
      case "exhausted": {
        const underWay = entry.status === "STARTED" || (entry.status === "PENDING" && withPerson);
        const againAtMs = decision.kind === "come_back" ? decision.atMs : ports.clock.nowMs();
        if (underWay) throw inHand(entry, call, againAtMs);
        entry = (await ports.ledger.withdraw(entry, withdrawn)).entry;
        break;
      }
      case "conflict":
        throw new RangeError("an entry does not conflict with itself");
      default:
        return decision satisfies never;
    }
  }
  throw new ComeBackLater(
    "operation_in_flight",
    ports.clock.nowMs(),
    `operation ${entry.operation_id} keeps changing: others work on it`,
  );
}

const withdrawn = new Fault(
  "withdrawn",
  "final",
  "its run is compensated: it did not happen, and is not tried any more",
);

/** Whoever has it in hand says so to the ledger; an attempt of the run's own is over when its lease is. */
function inHand({ operation_id, lease_until }: LedgerEntry, { node }: OperationCall, againAtMs: number): Fault {
  const delivery = deliveryOf(node.tool.downstream);
  if (delivery !== "direct") return new HandedOut(operation_id, delivery);
  return new ComeBackLater(
    "operation_in_flight",
    againAtMs,
    `operation ${operation_id} is under way until ${lease_until ?? "its lease ends"}`,
    { operation_id },
  );
}
