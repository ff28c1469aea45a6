import { commitMarginMs } from "../compile/node-time.ts";
import { Fault, isFault } from "../faults/fault.ts";
import { ComeBackLater } from "../faults/faults.ts";
import type { Success } from "../ledger/ledger.ts";
import type { LedgerEntry } from "../ledger/ledger-entry.ts";
import { unpackValue } from "../payloads/claim-check.ts";
import { stillWants } from "../runlog/run-record.ts";
import { boundedCall } from "./bounded-call.ts";
import type { Lookup, LookupAnswer } from "../agent/tool.ts";
import { decideReconciliation, judgeLookup } from "./decide-recovery.ts";
import { leaseMarginMs } from "./lease.ts";
import { type Claim, dimensionsOf, logContextOf, type OperationCall, type OperationPorts } from "./operation-call.ts";
import { packSuccess } from "./success.ts";

/** A claim to replay with the same key, or the entry as it is now. */
export type Reconciled =
  { readonly kind: "claimed"; readonly claim: Claim } | { readonly kind: "moved"; readonly entry: LedgerEntry };

/**
 * Finds out about an operation in doubt, by what its tool declares: a keyed replay, a lookup, or a person.
 * Precondition: STARTED, and the lease lapsed, so that no attempt can still be running.
 */
export async function reconcile(call: OperationCall, entry: LedgerEntry, ports: OperationPorts): Promise<Reconciled> {
  const { tool } = call.node;
  ports.metrics.add("reconciliation_total", dimensionsOf(call));
  const run = await ports.readRun(call.run.run_id);
  const wanted = run !== undefined && stillWants(run, call.node.name);
  const decision = decideReconciliation(entry, tool.downstream, ports.clock.nowMs(), tool.attemptsMax, wanted);
  ports.logger.info("operation reconciled", { ...logContextOf(call, entry.operation_id), by: decision.kind });
  switch (decision.kind) {
    case "replay":
      return replay(call, entry, ports);
    case "lookup":
      return lookUp(call, entry, ports);
    case "unknown":
      return unknown(call, entry, decision.why, ports);
    default:
      return decision satisfies never;
  }
}

async function replay(call: OperationCall, entry: LedgerEntry, ports: OperationPorts): Promise<Reconciled> {
  const write = await ports.ledger.reclaim(entry, call.killedAtMs + leaseMarginMs);
  if (!write.held) return { kind: "moved", entry: write.entry };
  ports.metrics.add("activity_retry_total", dimensionsOf(call));
  return { kind: "claimed", claim: { entry: write.entry, request: await unpackValue(ports.payloads, entry.request) } };
}

/**
 * Asks the other side once more about an UNKNOWN operation: what is found has happened. Anything else proves nothing new, and stays with
 * the person who was asked.
 */
export async function lookForLateSuccess(
  call: OperationCall,
  entry: LedgerEntry,
  ports: OperationPorts,
): Promise<LedgerEntry> {
  const { downstream } = call.node.tool;
  if (downstream.by === "none" || !downstream.lookup) return entry;
  const { answer } = await ask(call, entry, downstream.lookup, ports);
  if (typeof answer !== "object" || answer === null) return entry;
  ports.metrics.add("reconciliation_total", dimensionsOf(call));
  const success = await packSuccess(call.node.tool, call.run.run_id, answer.found, ports.payloads);
  return (await ports.ledger.reconcileSucceeded(entry, success, "found by a later lookup")).entry;
}

/** One bounded lookup. An error, or an answer outside the type, is no word. */
async function ask(
  call: OperationCall,
  entry: LedgerEntry,
  lookup: Lookup<never, unknown>,
  ports: OperationPorts,
): Promise<{ readonly answer: LookupAnswer<unknown>; readonly askedAtMs: number }> {
  const request = await unpackValue(ports.payloads, entry.request);
  const askedAtMs = ports.clock.nowMs();
  const deadlineMs = Math.min(askedAtMs + call.node.tool.timeoutMs, call.killedAtMs - commitMarginMs);
  const end = await boundedCall(ports.clock, deadlineMs, (signal) =>
    lookup(request as never, entry.operation_id, { signal }),
  );
  return { answer: end.kind === "returned" ? end.value : "cannot_tell", askedAtMs };
}

async function lookUp(call: OperationCall, entry: LedgerEntry, ports: OperationPorts): Promise<Reconciled> {
  const { downstream } = call.node.tool;
  const lookup = downstream.by === "none" ? undefined : downstream.lookup;
  if (downstream.by === "none" || !lookup) return unknown(call, entry, "the tool declares no lookup", ports);

  const { answer, askedAtMs } = await ask(call, entry, lookup, ports);
  const verdict = judgeLookup(answer, entry, askedAtMs, downstream.settleMs);
  switch (verdict.kind) {
    case "found":
      return found(call, entry, verdict.result, ports);
    case "absent":
      return {
        kind: "moved",
        entry: (await ports.ledger.reconcileAbsent(entry, "not found after the settle time")).entry,
      };
    case "come_back":
      throw new ComeBackLater(
        "settling",
        verdict.atMs,
        `operation ${entry.operation_id} is not on the other side yet: a late commit is real, so it is asked again`,
        {
          operation_id: entry.operation_id,
        },
      );
    case "unknown":
      return unknown(call, entry, verdict.why, ports);
    default:
      return verdict satisfies never;
  }
}

/** It happened. In a shape that cannot be kept, a person has to say what it came to. */
async function found(
  call: OperationCall,
  entry: LedgerEntry,
  result: unknown,
  ports: OperationPorts,
): Promise<Reconciled> {
  let success: Success;
  try {
    success = await packSuccess(call.node.tool, call.run.run_id, result, ports.payloads);
  } catch (error) {
    if (isFault(error) && error.code === "result_schema")
      return unknown(call, entry, `the lookup found it, but ${error.message}`, ports);
    throw error;
  }
  return { kind: "moved", entry: (await ports.ledger.reconcileSucceeded(entry, success, "found by lookup")).entry };
}

async function unknown(
  call: OperationCall,
  entry: LedgerEntry,
  why: string,
  ports: OperationPorts,
): Promise<Reconciled> {
  const fault = new Fault("outcome_unknown", "unknown", why, { facts: { operation_id: entry.operation_id } });
  const write = await ports.ledger.reconcileUnknown(entry, fault);
  if (write.held) ports.metrics.add("side_effect_unknown_total", dimensionsOf(call));
  return { kind: "moved", entry: write.entry };
}
