import { deliveryOf } from "../../agent/tool.ts";
import { Fault, isFault } from "../../faults/fault.ts";
import { ComeBackLater, HandedOut, OperationConflict, OperationUnknown, SentBack } from "../../faults/faults.ts";
import type { LedgerEntry } from "../../ledger/ledger-entry.ts";
import { unpackValue } from "../../payloads/claim-check.ts";
import { stillWants, standingOf } from "../../runlog/run-record.ts";
import { decideRecovery } from "../decide-recovery.ts";
import { leaseMarginMs } from "../lease.ts";
import {
  type Claim,
  dimensionsOf,
  logContextOf,
  type OperationCall,
  type OperationPorts,
  type PreparedRequest,
} from "../operation-call.ts";
import { prepareRequest } from "../prepare-request.ts";
import { reconcile } from "../reconcile.ts";
import { sameSnapshots, stillApproved } from "../still-approved.ts";

/** Ready to execute, or settled already. */
export type Prepared =
  { readonly kind: "claimed"; readonly claim: Claim } | { readonly kind: "settled"; readonly entry: LedgerEntry };

/** Times the entry may change under us before we come back later: each change is another executor's progress. */
const changesMax = 5;

/** Phase 1: who is it, what does the ledger say, may it be sent. Nothing irreversible; the last act is the claim. */
export async function prepare(call: OperationCall, ports: OperationPorts): Promise<Prepared> {
  const prepared = await prepareRequest(call, ports.payloads);
  const { operation } = prepared;
  const { attemptsMax } = call.node.tool;
  let entry = await ports.ledger.read(operation.operation_id);

  for (let changes = 0; changes < changesMax; changes++) {
    const decision = decideRecovery(entry, operation.request_hash, ports.clock.nowMs(), attemptsMax);
    switch (decision.kind) {
      case "claim": {
        await mayBeSent(call, prepared, entry, ports);
        if (call.dispatcher === "run") await handOut(call, prepared, entry, ports);
        const claimed = await claim(call, prepared, entry, ports);
        if (claimed.held) return { kind: "claimed", claim: claimed.claim };
        entry = claimed.found;
        break;
      }
      case "reconcile": {
        const next = await reconcile(call, decision.entry, ports);
        if (next.kind === "claimed") return next;
        entry = next.entry;
        break;
      }
      case "reuse":
        ports.metrics.add("side_effect_duplicate_prevented_total", dimensionsOf(call));
        return { kind: "settled", entry: decision.entry };
      case "conflict":
        ports.metrics.add("side_effect_conflict_total", dimensionsOf(call));
        throw new OperationConflict(
          operation.operation_id,
          decision.entry.request_hash,
          operation.request_hash,
          decision.entry.status,
        );
      case "come_back":
        // Whoever has it in hand will say so: the run waits for the ledger instead of asking again and again.
        if (
          decision.code === "operation_in_flight" &&
          call.dispatcher === "run" &&
          deliveryOf(call.node.tool.downstream) !== "direct"
        ) {
          throw new HandedOut(operation.operation_id, deliveryOf(call.node.tool.downstream));
        }
        ports.metrics.add("side_effect_duplicate_prevented_total", dimensionsOf(call));
        throw new ComeBackLater(
          decision.code,
          decision.atMs,
          `operation ${operation.operation_id}: ${decision.code}, nothing was sent`,
          {
            operation_id: operation.operation_id,
          },
        );
      case "exhausted":
        ports.metrics.add("retry_exhausted_total", dimensionsOf(call));
        throw exhausted(decision.entry, attemptsMax);
      case "failed":
        throw recordedFailure(decision.entry);
      case "unknown":
        throw new OperationUnknown(
          operation.operation_id,
          decision.entry.error?.message ?? "an attempt ended without an answer",
        );
      default:
        return decision satisfies never;
    }
  }
  throw new ComeBackLater(
    "operation_in_flight",
    ports.clock.nowMs(),
    `operation ${operation.operation_id} keeps changing: others work on it`,
  );
}

/** Checks that only count while nothing may have been sent: afterwards the effect's own success can falsify them. */
async function mayBeSent(
  call: OperationCall,
  prepared: PreparedRequest,
  entry: LedgerEntry | undefined,
  ports: OperationPorts,
): Promise<void> {
  const run = await ports.readRun(call.run.run_id);
  if (!run || !stillWants(run, call.node.name)) {
    throw new Fault("run_not_open", "final", `run ${call.run.run_id} is ${standingOf(run)}: nothing was sent`);
  }
  stillApproved(call, prepared, ports);
  if (entry?.may_have_applied === true) return;
  const verdict = (await call.node.precondition?.(prepared.request, call.state)) ?? true;
  if (verdict !== true && call.guarded) throw new SentBack(call.node.name, "precondition_failed", verdict);
  if (verdict !== true) {
    throw new Fault("precondition_failed", "final", `node ${call.node.name} was not dispatched: ${verdict}`, {
      facts: { node: call.node.name },
    });
  }
  await sameSnapshots(call, ports);
}

/**
 * A write that the run does not send itself: its request is PENDING first, then it is handed out, and the run waits for the ledger.
 * @throws HandedOut where that is so; returns where the run calls directly.
 */
async function handOut(
  call: OperationCall,
  { operation }: PreparedRequest,
  entry: LedgerEntry | undefined,
  ports: OperationPorts,
): Promise<void> {
  const delivery = deliveryOf(call.node.tool.downstream);
  if (delivery === "direct") return;
  if (entry === undefined || (entry.status === "PENDING" && !isSame(entry, operation))) {
    await ports.ledger.propose(operation, entry);
  } else if (entry.status === "FAILED_RETRYABLE") {
    await ports.ledger.requeue(entry);
  }
  if (delivery === "queue") {
    await ports.queue.send({
      operationId: operation.operation_id,
      group: operation.business_key,
      attempt: entry?.attempt ?? 0,
    });
  }
  throw new HandedOut(operation.operation_id, delivery);
}

/** The same request, proposed for the same delivery: there is nothing to write. */
const isSame = (entry: LedgerEntry, operation: PreparedRequest["operation"]): boolean =>
  entry.request_hash === operation.request_hash &&
  entry.delivery === operation.delivery &&
  entry.position === operation.position;

async function claim(
  call: OperationCall,
  { operation, request }: PreparedRequest,
  entry: LedgerEntry | undefined,
  ports: OperationPorts,
): Promise<{ readonly held: true; readonly claim: Claim } | { readonly held: false; readonly found: LedgerEntry }> {
  // What was shown, or sent before, is what is sent: the frozen request, decoration included.
  const frozen = entry?.request_hash === operation.request_hash ? entry.request : undefined;
  const write = await ports.ledger.claim(
    frozen ? { ...operation, request: frozen } : operation,
    entry,
    call.killedAtMs + leaseMarginMs,
  );
  if (!write.held) return { held: false, found: write.entry };
  if (write.entry.attempt > 1) ports.metrics.add("activity_retry_total", dimensionsOf(call));
  ports.logger.info("operation started", {
    ...logContextOf(call, operation.operation_id),
    attempt: write.entry.attempt,
  });
  return {
    held: true,
    claim: { entry: write.entry, request: frozen ? await unpackValue(ports.payloads, frozen) : request },
  };
}

const exhausted = (entry: LedgerEntry, attemptsMax: number): Fault =>
  new Fault(
    "retry_exhausted",
    "retryable",
    `operation ${entry.operation_id} failed ${entry.attempt} of ${attemptsMax} times, last: ${entry.error?.message ?? "no error recorded"}. It did not happen; fix the cause, then resume the run`,
    { facts: { operation_id: entry.operation_id, attempts: entry.attempt } },
  );

function recordedFailure(entry: LedgerEntry): Fault {
  const fault = entry.error && Fault.fromRecord(entry.error);
  return isFault(fault) && fault.failureClass === "final"
    ? fault
    : new Fault(
        "operation_failed",
        "final",
        `operation ${entry.operation_id} failed for good: ${entry.error?.message ?? "a person decided so"}`,
        {
          facts: { operation_id: entry.operation_id },
        },
      );
}
