import type { Agent } from "../agent/agent.ts";
import { type CompensableNode, compensationName, isCompensable, type Undone } from "../agent/compensation.ts";
import type { State } from "../agent/node.ts";
import { RecordCorrupt } from "../faults/faults.ts";
import type { LedgerEntry } from "../ledger/ledger-entry.ts";
import { writeNodeOf } from "../operation/find-operation.ts";
import { recordedResult } from "../operation/recorded-result.ts";
import { undoneOperation } from "../operation/undone-operation.ts";
import { Position } from "../runlog/position.ts";
import type { RunHistory } from "../runlog/run-log.ts";
import { foldState } from "./fold-state.ts";
import type { NodePorts } from "./ports.ts";

type StatePorts = Pick<NodePorts, "ledger" | "payloads">;

/** What the node of an operation sees: the log before it. Whoever looks, and whenever, sees the same. */
export async function stateOfOperation(
  agent: Agent,
  entry: LedgerEntry,
  history: RunHistory,
  ports: StatePorts,
): Promise<State> {
  const undone = undoneOperation(entry);
  if (!undone) return stateBefore(Position.parse(entry.position), history, ports);
  const found = await ports.ledger.read(undone.operationId);
  const write = found && writeNodeOf(agent, found).node;
  if (!found || !write || !isCompensable(write)) {
    throw new RecordCorrupt(`operation ${entry.operation_id}`, `what it undoes, ${undone.operationId}, is not there`);
  }
  return stateOfCompensation(write, found, history, ports);
}

/** What a compensation sees: what its write saw, and what that came to. Precondition: `undone` is SUCCEEDED. */
export async function stateOfCompensation(
  write: CompensableNode,
  undone: LedgerEntry,
  history: RunHistory,
  ports: StatePorts,
): Promise<State> {
  const seen = await stateBefore(Position.parse(undone.position), history, ports);
  const found: Undone = {
    business_key: undone.business_key,
    result: await recordedResult(write.tool, undone, ports.payloads),
  };
  return { ...seen, [compensationName(write.name)]: found };
}

async function stateBefore(position: Position, { run, steps }: RunHistory, { payloads }: StatePorts): Promise<State> {
  const before = steps.filter((step) => step.position < position);
  return (await foldState(run, before, payloads)).state;
}
