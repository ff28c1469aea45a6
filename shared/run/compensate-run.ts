import type { Agent } from "../agent/agent.ts";
import { compensationOf } from "../agent/compensation.ts";
import type { WriteNode } from "../agent/node.ts";
import { COMPENSATE, FAILED } from "../compile/lines.ts";
import { nodeTimeMs } from "../compile/node-time.ts";
import { wireError } from "../compile/wire-errors.ts";
import { Fault } from "../faults/fault.ts";
import { WireFault } from "../faults/wire-fault.ts";
import type { LedgerEntry } from "../ledger/ledger-entry.ts";
import type { OperationCall } from "../operation/operation-call.ts";
import { operationId } from "../operation/operation-id.ts";
import { checkpoint } from "../operation/phases/checkpoint.ts";
import { runOperation } from "../operation/run-operation.ts";
import { ordinalOf, Position, positionAt } from "../runlog/position.ts";
import type { RunHistory } from "../runlog/run-log.ts";
import { openRunStatuses, type RunCompensation } from "../runlog/run-record.ts";
import { END } from "../runlog/step.ts";
import { checkStep, checkSteps } from "./check-step.ts";
import { compensableOperations, type CompensableOperation, operationAhead } from "./compensable-operations.ts";
import { concludeOperation } from "./conclude-operation.ts";
import { failNode } from "./fail-node.ts";
import { failRestore } from "./fail-restore.ts";
import { readOwned, refuseLost, wakeUp } from "./owned-run.ts";
import type { NodePorts } from "./ports.ts";
import { ownRun } from "./take-over.ts";
import type { LineEntry, LineExit } from "./line-entry.ts";
import { stateOfCompensation } from "./state-of-operation.ts";
import { stepOf } from "./step-of.ts";

/** One invocation that compensates a run. */
interface Compensating {
  readonly agent: Agent;
  readonly history: RunHistory;
  readonly entry: LineEntry;
  readonly ports: NodePorts;
}

/**
 * Undoes what a run has done, latest first, and then takes the end that the run has coming. First everything under way comes to its end,
 * so that what has to be undone is known before the first of it is. Each compensation is an operation with the same four phases, and is
 * found again by the ledger: an invocation that dies anywhere leaves to the next one what is left.
 * @throws WireFault by which the state machine retries, waits or parks.
 */
export async function compensateRun(agent: Agent, entry: LineEntry, ports: NodePorts): Promise<LineExit> {
  const history = await ownRun(agent, await readOwned(entry, ports), entry, ports);
  const { run } = history;
  if (!run.compensation) throw new RangeError(`run ${run.run_id} is not compensated: nothing was undone`);
  await wakeUp(history, ports);
  const at: Compensating = { agent, history, entry, ports };

  const made = await restore(at);
  const happened: (CompensableOperation & { readonly entry: LedgerEntry })[] = [];
  for (const operation of made) {
    const concluded = await conclude(operation, at);
    if (concluded) happened.push({ ...operation, entry: concluded });
  }
  for (const [nth, operation] of happened.entries()) await undo(operation, nth, at);
  await takeEnd(run.compensation, at);
  return {
    run_id: run.run_id,
    position: entry.position,
    next: run.compensation.ends.status === "FAILED" ? FAILED : END,
  };
}

/** What the ledger has of the run, where this code may continue it. The operation ahead is written down, so that it can be withdrawn. */
async function restore({ agent, history, entry, ports }: Compensating): Promise<readonly CompensableOperation[]> {
  try {
    checkSteps(history.steps, agent);
    const ahead = await operationAhead(agent, history, entry.functionArn, ports);
    if (ahead && !(await ports.ledger.read(ahead.operation_id))) await ports.ledger.propose(ahead, undefined);
    return await compensableOperations(agent, history, ahead, ports);
  } catch (error) {
    throw await failRestore(history.run, history.steps.at(-1)?.position ?? entry.position, error, ports);
  }
}

/** @returns the entry of an operation that happened. */
async function conclude({ node, entry }: CompensableOperation, at: Compensating): Promise<LedgerEntry | undefined> {
  const position = Position.parse(entry.position);
  const withPerson =
    entry.delivery === "human" &&
    at.history.waiters.some(({ kind, operation_id }) => kind === "delivery" && operation_id === entry.operation_id);
  return attributed(node, position, at, () =>
    concludeOperation(callOf(node, position, {}, at), entry, withPerson, operationPortsOf(at)),
  );
}

async function undo(
  { node: write, entry: undone }: CompensableOperation,
  nth: number,
  at: Compensating,
): Promise<void> {
  const { history, entry, ports } = at;
  const node = compensationOf(write);
  const position = positionAt(ordinalOf(Position.parse(undone.position)), node.name);
  const id = operationId(undone.run_id, node.name, undone.business_key);
  const recorded = history.steps.some((step) => step.position === position && step.operation_id === id);
  if (recorded) return;
  await attributed(node, position, at, async () => {
    // It may have been cancelled, or taken over, while the last one ran.
    if (nth > 0) refuseLost(entry, await ports.log.readRun(entry.runId));
    if (nth > 0 && entry.killedAtMs - ports.clock.nowMs() < nodeTimeMs(node)) {
      throw new WireFault(
        wireError.handOver,
        `run ${entry.runId} at ${position}: the next invocation goes on`,
        undefined,
      );
    }
    const state = await stateOfCompensation(write, undone, history, ports);
    const { operationId: operation, output } = await runOperation(
      callOf(node, position, state, at),
      operationPortsOf(at),
    );
    const result = { outcome: "done", output, next: node.next, operationId: operation } as const;
    checkStep(await checkpoint(ports.log, stepOf(history.run, node, position, result, ports)), node);
  });
}

/** What fails is recorded where a person looks for it, and told to the state machine by the node's name. */
async function attributed<T>(node: WriteNode, position: Position, at: Compensating, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof WireFault) throw error;
    throw await failNode({ run: at.history.run, node, position, line: COMPENSATE }, error, at.ports);
  }
}

const callOf = (
  node: WriteNode,
  position: Position,
  state: OperationCall["state"],
  { history, entry }: Compensating,
): OperationCall => ({
  run: history.run,
  node,
  position,
  state,
  approvals: [],
  guarded: false,
  killedAtMs: entry.killedAtMs,
  dispatcher: "run",
  functionArn: entry.functionArn,
});

const operationPortsOf = ({ ports }: Compensating) => ({
  ...ports,
  readRun: (runId: string) => ports.log.readRun(runId),
});

async function takeEnd({ because, ends }: RunCompensation, { history: { run }, ports }: Compensating): Promise<void> {
  const { status, outcome, failure } = ends;
  const ended = await ports.log.change(run, openRunStatuses, { status, outcome, ...(failure && { failure }) });
  // Somebody moved it meanwhile: whoever that was goes on from here.
  if (!ended) throw new Fault("run_moved", "retryable", `run ${run.run_id} moved while it was compensated`);
  ports.logger.info("run ended", {
    run_id: run.run_id,
    workflow_id: run.workflow_id,
    workflow_version: run.workflow_version,
    outcome,
    compensated_because: because,
  });
}
