import type { Agent } from "../agent/agent.ts";
import { BadRequest } from "../faults/faults.ts";
import type { OperationStatus } from "../ledger/ledger-entry.ts";
import { decideRecovery } from "../operation/decide-recovery.ts";
import { writeNodeOf } from "../operation/find-operation.ts";
import { commit } from "../operation/phases/commit.ts";
import { execute } from "../operation/phases/execute.ts";
import { lookForLateSuccess, reconcile } from "../operation/reconcile.ts";
import type { NodePorts } from "./ports.ts";

export interface OperationEntry {
  readonly operationId: string;
  readonly killedAtMs: number;
  readonly functionArn: string | undefined;
}

/**
 * Looks into one operation without its run: the sweep calls this on the version that made it. A lapsed attempt is replayed, looked up or
 * marked UNKNOWN, as its tool declares; an UNKNOWN one becomes SUCCEEDED where a lookup finds it, and is otherwise left to a person.
 * @returns the status it has now. @throws what the operation says should happen next; the ledger has it too.
 */
export async function reconcileOperation(
  agent: Agent,
  entry: OperationEntry,
  ports: NodePorts,
): Promise<OperationStatus> {
  const found = await ports.ledger.read(entry.operationId);
  const run = found && (await ports.log.readRun(found.run_id));
  if (!found || !run)
    throw new BadRequest("unknown_operation", `there is no operation "${entry.operationId}" with a run`, 404);
  const { node, position } = writeNodeOf(agent, found);
  const call = {
    run,
    node,
    position,
    state: {},
    approvals: [],
    guarded: false,
    killedAtMs: entry.killedAtMs,
    dispatcher: "worker" as const,
    functionArn: entry.functionArn,
  };
  const operationPorts = { ...ports, readRun: (runId: string) => ports.log.readRun(runId) };
  const decision = decideRecovery(found, found.request_hash, ports.clock.nowMs(), node.tool.attemptsMax);
  if (decision.kind === "unknown") return (await lookForLateSuccess(call, found, operationPorts)).status;
  if (decision.kind !== "reconcile") return found.status;

  const next = await reconcile(call, decision.entry, operationPorts);
  if (next.kind === "moved") return next.entry.status;
  const outcome = await execute(call, next.claim, operationPorts);
  return (await commit(call, next.claim, outcome, operationPorts)).status;
}
