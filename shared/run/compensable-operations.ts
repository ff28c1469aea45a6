import { type Agent, findNode } from "../agent/agent.ts";
import { type CompensableNode, isCompensable, isCompensation } from "../agent/compensation.ts";
import { isFault } from "../faults/fault.ts";
import type { OperationRequest } from "../ledger/ledger.ts";
import type { LedgerEntry } from "../ledger/ledger-entry.ts";
import { writeNodeOf } from "../operation/find-operation.ts";
import { prepareRequest } from "../operation/prepare-request.ts";
import { nodeAt, positionAfter, positionAt } from "../runlog/position.ts";
import type { RunHistory } from "../runlog/run-log.ts";
import { END } from "../runlog/step.ts";
import { foldState } from "./fold-state.ts";
import type { NodePorts } from "./ports.ts";

/** An operation that would have to be undone, had it happened. */
export interface CompensableOperation {
  readonly node: CompensableNode;
  readonly entry: LedgerEntry;
}

type LookPorts = Pick<NodePorts, "ledger" | "payloads">;

/**
 * What the ledger says of every operation that the run may have made and that can be undone, latest first by where it stands in the run.
 * Every one is read consistently: the log names those that have a step, a waiter or a failure, and `ahead` is the one that may lack all of
 * them. The ledger's index would list them too, but it may lag, and an operation that is not seen is not undone.
 */
export async function compensableOperations(
  agent: Agent,
  history: RunHistory,
  ahead: OperationRequest | undefined,
  { ledger }: LookPorts,
): Promise<readonly CompensableOperation[]> {
  const named = [
    ...history.steps.map((step) => ({ node: step.node, id: step.operation_id })),
    ...history.waiters.map((waiter) => ({ node: waiter.node, id: waiter.operation_id })),
    ...history.failures.map((failure) => ({ node: failure.node, id: failure.error.facts["operation_id"] })),
  ];
  const found = [...named.filter(({ node }) => canBeUndone(agent, node)).map(({ id }) => id), ahead?.operation_id];
  const ids = new Set(found.filter((id) => typeof id === "string"));
  const entries = await Promise.all([...ids].map((id) => ledger.read(id)));
  return entries
    .flatMap((entry) => {
      const node = entry && writeNodeOf(agent, entry).node;
      return entry && node && isCompensable(node) ? [{ entry, node }] : [];
    })
    .sort((a, b) => laterFirst(a.entry, b.entry));
}

/** An approval names the operation that it guards, which may be another node's: those are found by their own. */
const canBeUndone = (agent: Agent, name: string): boolean => {
  const node = findNode(agent, name);
  return node !== undefined && isCompensable(node);
};

const laterFirst = (a: LedgerEntry, b: LedgerEntry): number =>
  b.position.localeCompare(a.position) ||
  b.created_at.localeCompare(a.created_at) ||
  b.operation_id.localeCompare(a.operation_id);

/**
 * The operation that the run was about to make, or had made without a step to show for it: the next node's, where that one can be undone.
 * Nothing else can be under way without a trace in the log.
 */
export async function operationAhead(
  agent: Agent,
  history: RunHistory,
  functionArn: string | undefined,
  { payloads }: LookPorts,
): Promise<OperationRequest | undefined> {
  const { run, steps } = history;
  const last = steps.filter((step) => !isCompensation(step.node)).at(-1);
  if (last?.next === END) return undefined;
  const position = last ? positionAfter(last.position, last.next) : positionAt(0, run.entry);
  const node = findNode(agent, nodeAt(position));
  if (!node || !isCompensable(node)) return undefined;
  const { state } = await foldState(run, steps, payloads);
  try {
    return (await prepareRequest({ run, node, position, state, functionArn }, payloads)).operation;
  } catch (error) {
    // It cannot even say what it would ask for, so it never asked.
    if (isFault(error) && error.failureClass === "final") return undefined;
    throw error;
  }
}
