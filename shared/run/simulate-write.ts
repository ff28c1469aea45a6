import { inventValue } from "../agent/invent-value.ts";
import type { WriteNode } from "../agent/node.ts";
import { Fault } from "../faults/fault.ts";
import { operationId } from "../operation/operation-id.ts";
import { prepareRequest } from "../operation/prepare-request.ts";
import { recordedResult } from "../operation/recorded-result.ts";
import { packValue } from "../payloads/claim-check.ts";
import type { NodePorts } from "./ports.ts";
import type { NodeRun } from "./node-run.ts";
import type { NodeResult } from "./step-of.ts";

/**
 * What a write comes to in a run that is simulated: as it came to in the run that this one was forked from, where that sent the same request,
 * else made up from the tool's schema. Nothing is sent, and the ledger, which says what may have happened outside, knows nothing of it.
 * @throws Fault `not_simulated` where nothing can be made up.
 */
export async function simulateWrite(node: WriteNode, at: NodeRun, ports: NodePorts): Promise<NodeResult> {
  const prepared = await prepareRequest({ ...at, node }, ports.payloads);
  const { business_key, request_hash } = prepared.operation;
  const scope = node.tool.scope === "workflow" ? at.run.workflow_id : (at.run.forked_from?.run_id ?? "");
  const before = await ports.ledger.read(operationId(scope, node.name, business_key));
  const same = before?.status === "SUCCEEDED" && before.request_hash === request_hash;
  const value = same ? await recordedResult(node.tool, before, ports.payloads) : madeUp(node);
  return {
    outcome: "done",
    output: await packValue(ports.payloads, at.run.run_id, value),
    next: node.next,
    simulated: true,
  };
}

function madeUp({ name, tool }: WriteNode): unknown {
  try {
    return inventValue(tool.output, `an answer of ${tool.name}`, tool.name);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Fault("not_simulated", "final", `node ${name}: ${why}. The simulation ends here; nothing was sent`, {
      facts: { node: name, tool: tool.name },
    });
  }
}
