import { Fault, isFault } from "../../faults/fault.ts";
import { ComeBackLater, OperationUnknown } from "../../faults/faults.ts";
import type { Committed } from "../../ledger/ledger.ts";
import type { EntryWrite } from "../../ledger/ledger-store.ts";
import type { LedgerEntry } from "../../ledger/ledger-entry.ts";
import { decideReconciliation } from "../decide-recovery.ts";
import {
  type AttemptOutcome,
  type Claim,
  dimensionsOf,
  logContextOf,
  type OperationCall,
  type OperationPorts,
} from "../operation-call.ts";
import { packSuccess } from "../success.ts";

/** Phase 3: writes what the attempt came to. Returns the settled entry, or throws what the step should do next. */
export async function commit(
  call: OperationCall,
  claim: Claim,
  outcome: AttemptOutcome,
  ports: OperationPorts,
): Promise<LedgerEntry> {
  switch (outcome.kind) {
    case "succeeded":
      return succeeded(call, claim, outcome.result, ports);
    case "failed":
      return failed(call, claim, outcome.fault, ports);
    case "in_doubt":
      return inDoubt(call, claim, outcome.fault, outcome.unsettled, ports);
    default:
      return outcome satisfies never;
  }
}

async function succeeded(
  call: OperationCall,
  { entry }: Claim,
  result: unknown,
  ports: OperationPorts,
): Promise<LedgerEntry> {
  let committed: Committed;
  try {
    const success = await packSuccess(call.node.tool, call.run.run_id, result, ports.payloads);
    committed = await ports.ledger.commit(entry, success);
  } catch (error) {
    if (isFault(error) && error.code === "result_schema")
      return inDoubt(call, { entry, request: undefined }, error, false, ports);
    throw error;
  }
  const context = { ...logContextOf(call, entry.operation_id), attempt: entry.attempt };
  if (committed.how === "second") {
    ports.metrics.add("side_effect_duplicate_detected_total", dimensionsOf(call));
    ports.logger.error("a second, different success for one operation", context);
  } else if (committed.how === "late") {
    ports.metrics.add("side_effect_conflict_total", dimensionsOf(call));
    ports.logger.warn("a late success", context);
  } else {
    // The same key was sent again while an earlier attempt was in doubt, and the other side had an answer for it.
    if (entry.may_have_applied && entry.capability === "key") {
      ports.metrics.add("idempotency_key_hit_total", dimensionsOf(call));
    }
    ports.logger.info("operation succeeded", context);
  }
  return committed.entry;
}

async function failed(
  call: OperationCall,
  { entry }: Claim,
  fault: Fault,
  ports: OperationPorts,
): Promise<LedgerEntry> {
  // An earlier attempt may have applied: that this one did not proves nothing about it.
  if (entry.may_have_applied) return inDoubt(call, { entry, request: undefined }, fault, false, ports);
  const write = await ports.ledger.fail(entry, fault);
  if (!write.held) return moved(write, ports);
  ports.logger.warn("operation failed", {
    ...logContextOf(call, entry.operation_id),
    code: fault.code,
    attempt: entry.attempt,
  });
  throw fault;
}

async function inDoubt(
  call: OperationCall,
  { entry }: Claim,
  fault: Fault,
  unsettled: boolean,
  ports: OperationPorts,
): Promise<LedgerEntry> {
  const { tool } = call.node;
  const nowMs = ports.clock.nowMs();
  const doubtful = {
    ...entry,
    may_have_applied: true,
    lease_until: new Date(nowMs).toISOString(),
    error: fault.toRecord(),
  };
  // Whether its run still wants it is looked at by whoever reconciles.
  const next = decideReconciliation(doubtful, tool.downstream, nowMs, tool.attemptsMax, true);
  ports.logger.warn("operation in doubt", {
    ...logContextOf(call, entry.operation_id),
    code: fault.code,
    next: next.kind,
  });
  let write: EntryWrite;
  try {
    write =
      next.kind === "unknown"
        ? await ports.ledger.doubt(entry, fault)
        : await ports.ledger.release(entry, fault, nowMs);
  } finally {
    // The request is still out there: recorded or not, this process must not live on to finish it during the next invocation.
    if (unsettled) ports.endProcess();
  }
  if (!write.held) return moved(write, ports);

  if (next.kind === "unknown") {
    ports.metrics.add("side_effect_unknown_total", dimensionsOf(call));
    throw new OperationUnknown(entry.operation_id, `${fault.message}; ${next.why}`);
  }
  if (next.kind === "lookup") {
    throw new ComeBackLater("settling", nowMs, `${fault.message}; the other side is asked next`, {
      operation_id: entry.operation_id,
    });
  }
  throw new Fault("operation_in_doubt", "retryable", `${fault.message}; the same key is sent again`, {
    facts: { operation_id: entry.operation_id },
    ...(fault.notBeforeMs !== undefined && { notBeforeMs: fault.notBeforeMs }),
  });
}

/** Another executor changed the entry meanwhile. A success is ours to use; anything else is looked at anew. */
function moved({ entry }: EntryWrite, ports: OperationPorts): LedgerEntry {
  if (entry.status === "SUCCEEDED") return entry;
  throw new ComeBackLater(
    "operation_in_flight",
    ports.clock.nowMs(),
    `operation ${entry.operation_id} was taken over meanwhile`,
    {
      operation_id: entry.operation_id,
    },
  );
}
