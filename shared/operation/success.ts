import type { WriteTool } from "../agent/tool.ts";
import { Fault } from "../faults/fault.ts";
import type { Success } from "../ledger/ledger.ts";
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
  const parsed = tool.output.safeParse(result);
  if (!parsed.success) {
    const problems = parsed.error.issues
      .map((issue) => `${issue.path.join(".") || "result"}: ${issue.message}`)
      .join("; ");
    throw new Fault(
      "result_schema",
      "unknown",
      `${tool.name} answered in a shape its output schema does not accept: ${problems}`,
      {
        facts: { tool: tool.name },
      },
    );
  }
  const packed = await packValue(payloads, runId, parsed.data);
  return { result: packed, responseHash: packedDigest(packed), externalRef: tool.externalRef?.(parsed.data) };
}
