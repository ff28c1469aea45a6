import { TAKE_OVER } from "../compile/lines.ts";
import { isoTime } from "../ports/clock.ts";
import { type Executions, StatesMissing } from "../ports/executions.ts";
import { nodeAt } from "../runlog/position.ts";
import type { RunHistory } from "../runlog/run-log.ts";
import { executionName, isOpen, openRunStatuses, type RunMove, type RunRecord } from "../runlog/run-record.ts";
import { nextMoveAfter } from "./next-move.ts";
import { placeOf, positionAhead } from "./place-of.ts";
import type { RunPorts } from "./ports.ts";

/** Why a run was not resumed. */
export type Resumed =
  { readonly resumed: true; readonly execution: string } | { readonly resumed: false; readonly why: string };

/**
 * Continues an open run in a new execution, from the log. The old execution, if it still lives, stops quietly at its next look. It goes on
 * with the states it began with; `to` are those of another version, which takes it over first, or leaves it where it was.
 */
export async function resumeRun(
  runId: string,
  ports: RunPorts & { readonly executions: Executions },
  to?: RunMove,
): Promise<Resumed> {
  const history = await ports.log.read(runId);
  if (!history) return { resumed: false, why: `there is no run ${runId}` };
  const { run } = history;
  if (!isOpen(run.status)) return { resumed: false, why: `run ${runId} has ended: ${run.status}` };

  const attempt = run.execution_attempt + 1;
  const execution = executionName(runId, attempt);
  // One that was on its way when its execution was lost still is.
  const move = to ?? run.moving_to;
  const owns = await ports.log.change(run, ["RUNNING", "WAITING", "PARKED"], {
    status: "RUNNING",
    execution,
    execution_attempt: attempt,
    ...(move && { moving_to: move }),
  });
  if (!owns) return { resumed: false, why: `run ${runId} is being resumed by somebody else` };

  const { position, node } = placeOf(history);
  const states = move?.state_machine_arn ?? run.state_machine_arn;
  try {
    await ports.executions.start(states, execution, { run_id: runId, position, next: move ? TAKE_OVER : node });
  } catch (error) {
    if (!(error instanceof StatesMissing)) throw error;
    await park({ ...run, execution }, history, error, ports);
    return { resumed: false, why: `run ${runId} is parked: ${error.message}` };
  }
  const lastAt = history.steps.at(-1)?.created_at ?? run.created_at;
  const dimensions = { agent: run.agent };
  ports.metrics.add("workflow_resume_total", dimensions);
  ports.metrics.add("checkpoint_age", dimensions, Math.round((ports.clock.nowMs() - Date.parse(lastAt)) / 1_000));
  ports.logger.info("run resumed", {
    run_id: runId,
    workflow_id: run.workflow_id,
    workflow_version: run.workflow_version,
    position,
    stood_since: isoTime(Date.parse(lastAt)),
  });
  return { resumed: true, execution };
}

/** Nobody will wake it: a person has to choose. */
async function park(run: RunRecord, history: RunHistory, error: StatesMissing, ports: RunPorts): Promise<void> {
  const position = positionAhead(history);
  const failure = { position, node: nodeAt(position), error: error.toRecord(), attempts: 1 };
  await ports.log.change(run, openRunStatuses, {
    status: "PARKED",
    failure: { ...failure, next_move: nextMoveAfter(run.run_id, error.code) },
  });
}
