import { type PackedValue, packValue } from "../payloads/claim-check.ts";
import type { LedgerEntry } from "../ledger/ledger-entry.ts";
import type { OperationCall, OperationPorts } from "./operation-call.ts";
import { commit } from "./phases/commit.ts";
import { execute } from "./phases/execute.ts";
import { prepare } from "./phases/prepare.ts";
import { recordedResult } from "./recorded-result.ts";

/** What a settled operation gives its step. */
export interface OperationResult {
  readonly operationId: string;
  /** As recorded: a later reader sees exactly this. */
  readonly output: PackedValue;
}

/**
 * One logical side effect: Prepare → Execute → Commit → Checkpoint.
 * A crash between any two leaves the ledger in a state from which the next entry knows what to do. The caller records the returned
 * step through `phases/checkpoint.ts`, as it does for every node.
 * @throws what the step should do next: a `Fault` by class, `ComeBackLater`, `OperationUnknown`, `OperationConflict` or `SentBack`.
 */
export async function runOperation(call: OperationCall, ports: OperationPorts): Promise<OperationResult> {
  const prepared = await prepare(call, ports);
  if (prepared.kind === "settled") return resultOf(call, prepared.entry, ports);
  const outcome = await execute(call, prepared.claim, ports);
  const entry = await commit(call, prepared.claim, outcome, ports);
  return resultOf(call, entry, ports);
}

async function resultOf(call: OperationCall, entry: LedgerEntry, ports: OperationPorts): Promise<OperationResult> {
  const result = await recordedResult(call.node.tool, entry, ports.payloads);
  const output = entry.result ?? (await packValue(ports.payloads, call.run.run_id, result));
  return { operationId: entry.operation_id, output };
}
