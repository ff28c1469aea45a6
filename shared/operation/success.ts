import { z } from "zod";
import type { WriteTool } from "../agent/tool.ts";
import { Fault } from "../faults/fault.ts";
import type { Success } from "../ledger/ledger.ts";
import { canonicalJson } from "./canonical-json.ts";
import { packedDigest, packValue } from "../payloads/claim-check.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";

/**
 * A success in the form the ledger keeps.
 * @throws Fault `result_schema` (unknown): the other side said yes in a shape we cannot keep. It may well have happened.
 */
export async function packSuccess(
  tool: WriteTool<unknown>,
  runId: string,
  result: unknown,
  payloads: PayloadStore,
): Promise<Success> {
  const { value, externalRef } = readResult(tool, result);
  const packed = await packValue(payloads, runId, value);
  return { result: packed, responseHash: packedDigest(packed), externalRef };
}

/** Everything that the tool's own code and schema decide. Whatever they throw, the effect has happened: never a failure. */
function readResult(tool: WriteTool<unknown>, result: unknown) {
  try {
    const value = tool.output.parse(result);
    canonicalJson(value);
    return { value, externalRef: tool.externalRef?.(value) };
  } catch (cause) {
    throw new Fault(
      "result_schema",
      "unknown",
      `${tool.name} answered in a shape that cannot be kept: ${problemsOf(cause)}`,
      { facts: { tool: tool.name }, cause },
    );
  }
}

function problemsOf(error: unknown): string {
  if (error instanceof z.ZodError)
    return error.issues.map((issue) => `${issue.path.join(".") || "result"}: ${issue.message}`).join("; ");
  return error instanceof Error ? error.message : String(error);
}
