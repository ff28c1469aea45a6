import type { Agent } from "../agent/agent.ts";
import { isFault } from "../faults/fault.ts";
import { BadRequest, ComeBackLater } from "../faults/faults.ts";
import type { LedgerEntry, OperationStatus } from "../ledger/ledger-entry.ts";
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
 * @returns the status it has now, whatever came of the look: nobody waits for its failure here. @throws what kept it from looking.
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

  try {
    const next = await reconcile(call, decision.entry, operationPorts);
    if (next.kind === "moved") return next.entry.status;
    const outcome = await execute(call, next.claim, operationPorts);
    return (await commit(call, next.claim, outcome, operationPorts)).status;
  } catch (error) {
    return statusAfter(found, error, ports);
  }
}

/** What the operation says should happen next is for its run to hear. A look that left no trace, though, is one that failed. */
async function statusAfter(found: LedgerEntry, error: unknown, { ledger }: NodePorts): Promise<OperationStatus> {
  if (!isFault(error)) throw error;
  const now = await ledger.read(found.operation_id);
  const settling = error instanceof ComeBackLater;
  if (!now || (now.version === found.version && !settling)) throw error;
  return now.status;
}
