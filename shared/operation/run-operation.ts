import { type PackedValue, packValue, unpackValue } from "../payloads/claim-check.ts";
import { RecordCorrupt } from "../faults/faults.ts";
import type { LedgerEntry } from "../ledger/ledger-entry.ts";
import type { OperationCall, OperationPorts } from "./operation-call.ts";
import { commit } from "./phases/commit.ts";
import { execute } from "./phases/execute.ts";
import { prepare } from "./phases/prepare.ts";

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

/** @throws RecordCorrupt when a stored result no longer parses: an error, never other data. */
async function resultOf(call: OperationCall, entry: LedgerEntry, ports: OperationPorts): Promise<OperationResult> {
  const { tool } = call.node;
  const parsed = tool.output.safeParse(await recordedResult(call, entry, ports));
  if (!parsed.success) {
    throw new RecordCorrupt(
      `the result of operation ${entry.operation_id}`,
      parsed.error.issues.map((issue) => issue.message).join("; "),
    );
  }
  const output = entry.result ?? (await packValue(ports.payloads, call.run.run_id, parsed.data));
  return { operationId: entry.operation_id, output };
}

/** As the other side answered, or, where a person gave the reference, as the tool makes an answer of it. */
async function recordedResult(call: OperationCall, entry: LedgerEntry, ports: OperationPorts): Promise<unknown> {
  if (entry.result !== undefined) return unpackValue(ports.payloads, entry.result);
  const make = call.node.tool.resultOf;
  if (make === undefined || entry.external_ref === undefined) {
    throw new RecordCorrupt(`operation ${entry.operation_id}`, "it succeeded without a result");
  }
  return make(entry.external_ref, await unpackValue(ports.payloads, entry.request));
}
