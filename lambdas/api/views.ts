import type { LedgerEntry } from "../../shared/ledger/ledger-entry.ts";
import { unpackValue, type PackedValue } from "../../shared/payloads/claim-check.ts";
import type { PayloadStore } from "../../shared/payloads/payload-store.ts";
import type { RunHistory } from "../../shared/runlog/run-log.ts";
import { undoneOperation } from "../../shared/operation/undone-operation.ts";
import { isCompensating, retirementOf, type RunRecord } from "../../shared/runlog/run-record.ts";
import { waiterId } from "../../shared/waiter/waiter.ts";

/** Bytes of a recorded value that a listing shows: more is named by size, and lies in the payload store. */
const shownBytesMax = 16 * 1024;

/** An operation as people see it: what, how far, and what is unknown. Never the attempt token. */
export const operationView = (entry: LedgerEntry) => ({
  operation_id: entry.operation_id,
  run_id: entry.run_id,
  workflow_id: entry.workflow_id,
  action_name: entry.action_name,
  business_key: entry.business_key,
  position: entry.position,
  /** The operation that this one undoes. */
  compensates: undoneOperation(entry)?.operationId,
  status: entry.status,
  external_ref: entry.external_ref,
  attempt: entry.attempt,
  risk: entry.risk,
  capability: entry.capability,
  may_have_applied: entry.may_have_applied,
  lease_until: entry.lease_until,
  not_before: entry.not_before,
  error: entry.error,
  resolution: entry.resolution,
  contradictions: entry.contradictions,
  created_at: entry.created_at,
  version: entry.version,
  delivery: entry.delivery,
  updated_at: entry.updated_at,
  committed_at: entry.committed_at,
});

/** Why what a run did is undone, or was, and how it ends then. */
const compensationView = ({ status, compensation }: RunRecord) =>
  compensation && {
    because: compensation.because,
    since: compensation.since,
    compensating: isCompensating({ status, compensation }),
    ends: compensation.ends,
  };

/** A run with everything that happened to it. */
export async function runView(
  { run, steps, waiters, failures }: RunHistory,
  operations: readonly LedgerEntry[],
  payloads: PayloadStore,
) {
  const shown = async (value: PackedValue) =>
    "ref" in value || Buffer.byteLength(value.json, "utf8") > shownBytesMax
      ? { large: "ref" in value ? value.ref : { bytes: Buffer.byteLength(value.json, "utf8") } }
      : unpackValue(payloads, value);
  return {
    run_id: run.run_id,
    workflow_id: run.workflow_id,
    agent: run.agent,
    workflow_version: run.workflow_version,
    /** Its version was retired: nothing of the run goes on there. */
    retired: retirementOf(run),
    contract_digest: run.contract_digest,
    entry: run.entry,
    status: run.status,
    outcome: run.outcome,
    waiting_for: run.waiting_for,
    compensation: compensationView(run),
    failure: run.failure,
    execution: run.execution,
    forked_from: run.forked_from,
    simulated: run.simulated,
    started_by: run.started_by,
    input: await shown(run.input),
    created_at: run.created_at,
    updated_at: run.updated_at,
    steps: await Promise.all(
      steps.map(async (step) => ({
        position: step.position,
        node: step.node,
        kind: step.kind,
        fingerprint: step.fingerprint,
        outcome: step.outcome,
        next: step.next,
        output: await shown(step.output),
        usage: step.usage,
        simulated: step.simulated,
        operation_id: step.operation_id,
        created_at: step.created_at,
      })),
    ),
    operations: operations.map(operationView),
    waiters: waiters.map((waiter) => ({
      waiter_id: waiterId(waiter.run_id, waiter.position),
      kind: waiter.kind,
      node: waiter.node,
      status: waiter.status,
      routes: waiter.routes,
      operation_id: waiter.operation_id,
      requested_at: waiter.requested_at,
      expires_at: waiter.expires_at,
      superseded: waiter.superseded,
    })),
    failures: failures.map(({ position, node, attempts, error, updated_at, not_before }) => ({
      position,
      node,
      attempts,
      error,
      updated_at,
      not_before,
    })),
  };
}
