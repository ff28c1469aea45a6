import { BadRequest } from "../faults/faults.ts";
import type { Executions, Waker } from "../ports/executions.ts";
import { executionName, isOpen, openRunStatuses, type RunRecord } from "../runlog/run-record.ts";
import { beginCompensation } from "./begin-compensation.ts";
import type { RunPorts } from "./ports.ts";
import { enterCompensation } from "./place-of.ts";
import { isCalledOff, sendHome } from "./send-home.ts";

/** Times a run may change hands while it is cancelled. */
const attemptsMax = 5;

export interface Cancelled {
  readonly run: RunRecord;
  /** False when it was cancelled before. */
  readonly changed: boolean;
}

type CancelPorts = RunPorts & { readonly waker: Waker; readonly executions: Executions };

/**
 * Cancels a run: nothing new starts. What is in flight settles and is recorded in the ledger; whoever waits is sent home. With
 * `compensate`, what it has done is undone first, by a new execution, and the run is open until then. Cancelled without, a run that is being
 * compensated stops at once: what is not undone by then stays.
 * @throws BadRequest 404 for an unknown run, 409 for one that has ended otherwise, or that cannot be compensated.
 */
export async function cancelRun(
  runId: string,
  by: string,
  ports: CancelPorts,
  { compensate = false }: { readonly compensate?: boolean } = {},
): Promise<Cancelled> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const run = await ports.log.readRun(runId);
    if (!run) throw new BadRequest("unknown_run", `there is no run "${runId}": surefoot runs lists them`, 404);
    const found = compensate ? compensatedBefore(run) : run.status === "CANCELLED";
    if (found) {
      // Whoever cancelled it may have died before the waiters were told, or before it went on.
      await move(run, ports);
      return { run, changed: false };
    }
    refuse(run, compensate);
    const cancelled = compensate ? await toCompensate(run, ports) : await toEnd(run, ports);
    if (cancelled) {
      ports.logger.info("run cancelled", { run_id: runId, workflow_id: run.workflow_id, cancelled_by: by, compensate });
      await move(cancelled, ports);
      return { run: cancelled, changed: true };
    }
  }
  throw new BadRequest("run_contended", `run ${runId} changed hands ${attemptsMax} times: cancel it again`, 409);
}

/** It is compensated, or was when it ended. For another reason too: then that one is its end. */
const compensatedBefore = ({ status, compensation }: RunRecord): boolean =>
  compensation !== undefined && (isOpen(status) || status === "CANCELLED");

function refuse({ run_id, agent, workflow_version, status, compensates }: RunRecord, compensate: boolean): void {
  if (!isOpen(status))
    throw new BadRequest("run_ended", `run ${run_id} has ended: ${status}. Nothing was changed`, 409);
  if (!compensate || compensates) return;
  throw new BadRequest(
    "not_compensable",
    `run ${run_id} cannot be compensated: ${agent} version ${workflow_version} declares no way to undo a write. Nothing was changed; cancel it without`,
    409,
  );
}

async function toEnd(run: RunRecord, { log }: CancelPorts): Promise<RunRecord | undefined> {
  const change = { status: "CANCELLED", outcome: "cancelled" } as const;
  return (await log.change(run, openRunStatuses, change)) ? { ...run, ...change } : undefined;
}

/** In a new execution: the old one may be in the middle of something, and stops quietly at its next look. */
async function toCompensate(run: RunRecord, ports: CancelPorts): Promise<RunRecord | undefined> {
  const attempt = run.execution_attempt + 1;
  const moving = { execution: executionName(run.run_id, attempt), execution_attempt: attempt };
  const ends = { status: "CANCELLED", outcome: "cancelled" } as const;
  const began = await beginCompensation(run, { because: "cancelled", ends }, ports, moving);
  return began ? await ports.log.readRun(run.run_id) : undefined;
}

/** Sends home whoever waits, then lets the compensation begin, where there is one. Repeating it is harmless. */
async function move(run: RunRecord, ports: CancelPorts): Promise<void> {
  const history = await ports.log.read(run.run_id);
  for (const waiter of history?.waiters ?? []) {
    if (waiter.status === "OPEN" && isCalledOff(waiter, run)) await sendHome(waiter, ports);
  }
  if (run.compensation?.because !== "cancelled" || run.status !== "RUNNING") return;
  const { position, node } = enterCompensation(run);
  await ports.executions.start(run.state_machine_arn, run.execution, { run_id: run.run_id, position, next: node });
}
