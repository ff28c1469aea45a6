import { COMPENSATE } from "../compile/lines.ts";
import { isoTime } from "../ports/clock.ts";
import type { Executions } from "../ports/executions.ts";
import { positionAt, type Position } from "../runlog/position.ts";
import type { RunHistory } from "../runlog/run-log.ts";
import { executionName, isOpen, type RunRecord } from "../runlog/run-record.ts";
import { END } from "../runlog/step.ts";
import type { RunPorts } from "./ports.ts";

/** Why a run was not resumed. */
export type Resumed =
  { readonly resumed: true; readonly execution: string } | { readonly resumed: false; readonly why: string };

/**
 * Continues an open run in a new execution, from the log. The old execution, if it still lives, stops quietly at its next look.
 */
export async function resumeRun(
  runId: string,
  ports: RunPorts & { readonly executions: Executions },
): Promise<Resumed> {
  const history = await ports.log.read(runId);
  if (!history) return { resumed: false, why: `there is no run ${runId}` };
  const { run } = history;
  if (!isOpen(run.status)) return { resumed: false, why: `run ${runId} has ended: ${run.status}` };

  const attempt = run.execution_attempt + 1;
  const execution = executionName(runId, attempt);
  const owns = await ports.log.change(run, ["RUNNING", "WAITING", "PARKED"], {
    status: "RUNNING",
    execution,
    execution_attempt: attempt,
  });
  if (!owns) return { resumed: false, why: `run ${runId} is being resumed by somebody else` };

  const { position, node } = placeOf(history);
  await ports.executions.start(run.state_machine_arn, execution, { run_id: runId, position, resume_at: node });
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

/** The last recorded step, from which a line walks on, and the node whose line to enter. */
function placeOf({ run, steps }: RunHistory): { readonly position: Position; readonly node: string } {
  if (run.compensation) return enterCompensation(run);
  const last = steps.at(-1);
  if (!last) return { position: positionAt(0, run.entry), node: run.entry };
  return { position: last.position, node: last.next === END ? last.node : last.next };
}

/** Where an execution enters that compensates. The ledger says what is left, so that it is the same whenever it is started. */
export const enterCompensation = ({ entry }: Pick<RunRecord, "entry">) => ({
  position: positionAt(0, entry),
  node: COMPENSATE,
});
