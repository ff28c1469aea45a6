import type { WriteTool } from "../agent/tool.ts";
import { RecordCorrupt } from "../faults/faults.ts";
import type { LedgerEntry } from "../ledger/ledger-entry.ts";
import { unpackValue } from "../payloads/claim-check.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";

/**
 * What a SUCCEEDED operation came to: as the other side answered, or, where a person gave the reference, as the tool makes an answer of it.
 * @throws RecordCorrupt when a stored result no longer parses: an error, never other data.
 */
export async function recordedResult(
  tool: WriteTool<unknown>,
  entry: LedgerEntry,
  payloads: PayloadStore,
): Promise<unknown> {
  const parsed = tool.output.safeParse(await answered(tool, entry, payloads));
  if (parsed.success) return parsed.data;
  throw new RecordCorrupt(
    `the result of operation ${entry.operation_id}`,
    parsed.error.issues.map((issue) => issue.message).join("; "),
  );
}

async function answered(tool: WriteTool<unknown>, entry: LedgerEntry, payloads: PayloadStore): Promise<unknown> {
  if (entry.result !== undefined) return unpackValue(payloads, entry.result);
  if (tool.resultOf === undefined || entry.external_ref === undefined) {
    throw new RecordCorrupt(`operation ${entry.operation_id}`, "it succeeded without a result");
  }
  return tool.resultOf(entry.external_ref, await unpackValue(payloads, entry.request));
}
