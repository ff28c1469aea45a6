import { type Agent, nodeOf } from "../agent/agent.ts";
import { compensableNodes } from "../agent/compensation.ts";
import type { AgentNode } from "../agent/node.ts";
import { ApprovalOutcome, Rejection } from "../approval/approval.ts";
import { COMPENSATE, type Line, WAIT } from "../compile/lines.ts";
import { nodeTimeMs } from "../compile/node-time.ts";
import { sentBackError } from "../compile/sent-back.ts";
import { wireError } from "../compile/wire-errors.ts";
import { Fault } from "../faults/fault.ts";
import { ComeBackLater } from "../faults/faults.ts";
import { WireFault } from "../faults/wire-fault.ts";
import { checkpoint } from "../operation/phases/checkpoint.ts";
import { unpackValue } from "../payloads/claim-check.ts";
import { nodeAt, ordinalOf, type Position, positionAfter } from "../runlog/position.ts";
import type { RunHistory } from "../runlog/run-log.ts";
import { openRunStatuses, type RunCompensation } from "../runlog/run-record.ts";
import { END, type Step } from "../runlog/step.ts";
import { askApproval } from "./ask-approval.ts";
import { beginCompensation } from "./begin-compensation.ts";
import { checkStep, checkSteps } from "./check-step.ts";
import { compensableOperations } from "./compensable-operations.ts";
import { failNode } from "./fail-node.ts";
import { failRestore } from "./fail-restore.ts";
import { type Folded, foldState } from "./fold-state.ts";
import { readOwned, refuseLost, wakeUp } from "./owned-run.ts";
import type { LineEntry, LineExit } from "./line-entry.ts";
import type { NodePorts } from "./ports.ts";
import { ownRun } from "./take-over.ts";
import { runNode } from "./run-node.ts";
import { stepOf } from "./step-of.ts";

/**
 * Runs the nodes of a line from the log on: recorded steps are reused, every new result is checkpointed, and the line ends at its wait,
 * its branch or its end. A retry of the Task continues where it stopped.
 * @throws WireFault by which the state machine retries, catches or parks.
 */
export async function runLine(agent: Agent, line: Line, entry: LineEntry, ports: NodePorts): Promise<LineExit> {
  const enteredAtMs = ports.clock.nowMs();
  const history = await ownRun(agent, await readOwned(entry, ports), entry, ports);
  // Another invocation ended the run here, and died before it could say how.
  if (history.run.compensation) return { run_id: entry.runId, position: entry.position, next: COMPENSATE };
  await wakeUp(history, ports);
  const replayed = await replay(agent, history, entry.position, ports);
  ports.metrics.add("resume_latency", { agent: agent.name }, ports.clock.nowMs() - enteredAtMs);

  let { place, folded } = replayed;
  for (let ran = 0; place.kind === "next"; ran++) {
    const name = nodeAt(place.position);
    if (!line.nodes.includes(name)) return leave(agent, line, place, history);
    const step = await runOne(agent, line, place.position, folded, history, { entry, ran }, ports);
    if (step === "waits") return { run_id: entry.runId, position: place.position, next: WAIT };
    folded = folded.with(step, await unpackValue(ports.payloads, step.output));
    place = after(step);
  }
  const next = await finish(agent, history, place.last, ports);
  return { run_id: entry.runId, position: place.last.position, next };
}

/** Where a run stands: about to take a position, or past its last step. */
type Place = Ahead | { readonly kind: "end"; readonly last: Step };
interface Ahead {
  readonly kind: "next";
  readonly position: Position;
  /** The step that leads there, where one is recorded. */
  readonly from?: Step;
}

const after = (step: Step): Place =>
  step.next === END
    ? { kind: "end", last: step }
    : { kind: "next", position: positionAfter(step.position, step.next), from: step };

/**
 * The way out of a line, in the words that its states know. Read from the last step and not from what this invocation did: an earlier one
 * may have recorded it and died before it could say so.
 * @throws WireFault `surefoot.sent_back` by which the state machine goes back.
 */
function leave(agent: Agent, line: Line, { position, from }: Ahead, { run, waiters }: RunHistory): LineExit {
  const own = from !== undefined && line.nodes.includes(from.node) ? from : undefined;
  if (own?.outcome === "sent_back") {
    const message = `run ${run.run_id} at ${own.position}: sent back to ${own.next}`;
    throw new WireFault(sentBackError(agent, own.node, own.next), message, undefined);
  }
  // Answered before anybody waited: the wait state finds the answer and takes its route.
  const answered = own?.kind === "approval" && waiters.some((waiter) => waiter.position === own.position);
  if (answered) return { run_id: run.run_id, position: own.position, next: WAIT };
  return { run_id: run.run_id, position, next: nodeAt(position) };
}

/** Passes over what is recorded. @throws WireFault when a record was made by another definition: then nothing runs. */
async function replay(agent: Agent, history: RunHistory, from: Position, ports: NodePorts) {
  const { run, steps } = history;
  const recorded = new Map(steps.map((step) => [step.position, step]));
  try {
    checkSteps(steps, agent);
    const folded = await foldState(run, steps, ports.payloads);
    let place: Place = { kind: "next", position: from };
    let replayedSteps = 0;
    for (let step = recorded.get(from); step; step = place.kind === "next" ? recorded.get(place.position) : undefined) {
      place = after(step);
      replayedSteps++;
    }
    const reused = steps.filter((step) => ["model", "read", "write"].includes(step.kind)).length;
    if (reused > 0) ports.metrics.add("task_result_reused_total", { agent: agent.name }, reused);
    if (replayedSteps > 0) ports.metrics.add("replayed_step_total", { agent: agent.name }, replayedSteps);
    return { place: place, folded };
  } catch (error) {
    throw await failRestore(run, steps.at(-1)?.position ?? from, error, ports);
  }
}

async function runOne(
  agent: Agent,
  line: Line,
  position: Position,
  folded: Folded,
  history: RunHistory,
  { entry, ran }: { readonly entry: LineEntry; readonly ran: number },
  ports: NodePorts,
): Promise<Step | "waits"> {
  const { run } = history;
  const node = nodeOf(agent, nodeAt(position));
  const at = {
    agent,
    run,
    position,
    state: folded.state,
    killedAtMs: entry.killedAtMs,
    functionArn: entry.functionArn,
  };
  try {
    mayStart(agent, node, position, history, ports);
    // It may have been cancelled, or taken over, while the last node ran.
    if (ran > 0) refuseLost(entry, await ports.log.readRun(run.run_id));
    if (ran > 0 && entry.killedAtMs - ports.clock.nowMs() < nodeTimeMs(node)) {
      throw new WireFault(
        wireError.handOver,
        `run ${run.run_id} at ${position}: the next invocation goes on`,
        undefined,
      );
    }
    if (node.kind === "approval") {
      const standing = history.waiters.find((waiter) => waiter.position === position);
      const asked = await askApproval(node, { ...at, line: line.name, standing }, ports);
      if (asked.kind === "asked") return "waits";
      if (asked.kind === "superseded") return asked.step;
      return await checkpoint(ports.log, stepOf(run, node, position, asked.result, ports));
    }
    const result = await runNode(node, at, ports);
    const step = await checkpoint(ports.log, stepOf(run, node, position, result, ports));
    checkStep(step, node);
    return step;
  } catch (error) {
    if (error instanceof WireFault) throw error;
    throw await failNode({ run, node, position, line: line.name }, error, ports);
  }
}

/** Limits and floors before a node starts. */
function mayStart(agent: Agent, node: AgentNode, position: Position, { failures }: RunHistory, ports: NodePorts): void {
  if (ordinalOf(position) >= agent.stepsMax) {
    throw new Fault(
      "steps_exhausted",
      "final",
      `expected at most ${agent.stepsMax} steps: a cycle may not come to its end; raise stepsMax or mend the route`,
      {
        facts: { node: node.name, steps_max: agent.stepsMax },
      },
    );
  }
  const failure = failures.find((candidate) => candidate.position === position);
  const notBeforeMs = failure?.not_before === undefined ? 0 : Date.parse(failure.not_before);
  if (ports.clock.nowMs() < notBeforeMs) {
    throw new ComeBackLater("retry_after", notBeforeMs, `node ${node.name} waits: the other side asked for patience`);
  }
}

/**
 * The end of a run: the route that led to it is its outcome. One that was turned down takes back what it has done first.
 * @returns where the states go: `end`, or the line that compensates.
 */
async function finish(
  agent: Agent,
  history: RunHistory,
  last: Step,
  ports: NodePorts,
): Promise<typeof END | typeof COMPENSATE> {
  const { run } = history;
  const { outcome, because } = endOf(last, await unpackValue(ports.payloads, last.output));
  if (because && (await hasSomethingToUndo(agent, history, ports))) {
    await beginCompensation(run, { because, ends: { status: "SUCCEEDED", outcome } }, ports);
    return COMPENSATE;
  }
  await ports.log.change(run, openRunStatuses, { status: "SUCCEEDED", outcome });
  ports.logger.info("run ended", {
    run_id: run.run_id,
    workflow_id: run.workflow_id,
    workflow_version: run.workflow_version,
    outcome,
  });
  return END;
}

async function hasSomethingToUndo(agent: Agent, history: RunHistory, ports: NodePorts): Promise<boolean> {
  if (compensableNodes(agent).length === 0) return false;
  const made = await compensableOperations(agent, history, undefined, ports);
  return made.some(({ entry }) => ["STARTED", "SUCCEEDED", "UNKNOWN"].includes(entry.status));
}

/** `because` says that the run was turned down. */
function endOf(
  last: Step,
  output: unknown,
): { readonly outcome: string; readonly because?: RunCompensation["because"] } {
  if (last.outcome === "sent_back") return { outcome: Rejection.parse(output).reason, because: "sent_back" };
  if (last.kind !== "approval") return { outcome: "completed" };
  const { outcome } = ApprovalOutcome.parse(output);
  const turnedDown = outcome === "rejected" || outcome === "expired" || outcome === "cancelled";
  return turnedDown ? { outcome, because: outcome } : { outcome: "completed" };
}
