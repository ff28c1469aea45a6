import type { Agent } from "../agent/agent.ts";
import { BadRequest } from "../faults/faults.ts";
import { writeNodeOf } from "../operation/find-operation.ts";
import { runOperation } from "../operation/run-operation.ts";
import { guardsOfWrite } from "./guards-of-write.ts";
import type { NodePorts } from "./ports.ts";
import type { OperationEntry } from "./reconcile-operation.ts";
import { stateOfOperation } from "./state-of-operation.ts";

/**
 * Delivers one queued operation: the same four phases, by the worker instead of the run, which waits for the ledger meanwhile.
 * @throws what the operation says should happen next: `ComeBackLater` while another delivery is at it, `OperationUnknown`, a failure.
 */
export async function deliverOperation(agent: Agent, entry: OperationEntry, ports: NodePorts): Promise<void> {
  const found = await ports.ledger.read(entry.operationId);
  const history = found && (await ports.log.read(found.run_id));
  if (!found || !history) {
    throw new BadRequest("unknown_operation", `there is no operation "${entry.operationId}" with a run`, 404);
  }
  const { node, position } = writeNodeOf(agent, found);
  const state = await stateOfOperation(agent, found, history, ports);
  await runOperation(
    {
      run: history.run,
      node,
      position,
      state,
      ...(await guardsOfWrite({ agent, run: history.run, node, state }, ports.log)),
      killedAtMs: entry.killedAtMs,
      dispatcher: "worker",
      functionArn: entry.functionArn,
    },
    { ...ports, readRun: (runId) => ports.log.readRun(runId) },
  );
}
