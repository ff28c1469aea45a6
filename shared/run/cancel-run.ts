import { BadRequest } from "../faults/faults.ts";
import { wireError } from "../compile/wire-errors.ts";
import { isoTime } from "../ports/clock.ts";
import type { Waker } from "../ports/executions.ts";
import { isOpen, type RunRecord } from "../runlog/run-record.ts";
import type { RunPorts } from "./ports.ts";

/** Times a run may change hands while it is cancelled. */
const attemptsMax = 5;

export interface Cancelled {
  readonly run: RunRecord;
  /** False when it was cancelled before. */
  readonly changed: boolean;
}

/**
 * Cancels a run: nothing new starts. What is in flight settles and is recorded in the ledger; whoever waits is sent home.
 * @throws BadRequest 404 for an unknown run, 409 for one that has ended otherwise.
 */
export async function cancelRun(
  runId: string,
  by: string,
  ports: RunPorts & { readonly waker: Waker },
): Promise<Cancelled> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const run = await ports.log.readRun(runId);
    if (!run) throw new BadRequest("unknown_run", `there is no run "${runId}": surefoot runs lists them`, 404);
    if (run.status === "CANCELLED") {
      // Whoever cancelled it may have died before the waiters were told.
      await sendWaitersHome(runId, ports);
      return { run, changed: false };
    }
    if (!isOpen(run.status))
      throw new BadRequest("run_ended", `run ${runId} has ended: ${run.status}. Nothing was changed`, 409);
    const outcome = "cancelled";
    if (await ports.log.change(run, ["RUNNING", "WAITING", "PARKED"], { status: "CANCELLED", outcome })) {
      ports.logger.info("run cancelled", { run_id: runId, workflow_id: run.workflow_id, cancelled_by: by });
      await sendWaitersHome(runId, ports);
      return { run: { ...run, status: "CANCELLED", outcome }, changed: true };
    }
  }
  throw new BadRequest("run_contended", `run ${runId} changed hands ${attemptsMax} times: cancel it again`, 409);
}

/** A state that waits learns that its run is over. Its execution ends quietly. */
async function sendWaitersHome(runId: string, ports: RunPorts & { readonly waker: Waker }): Promise<void> {
  const history = await ports.log.read(runId);
  for (const waiter of history?.waiters ?? []) {
    if (waiter.status !== "OPEN") continue;
    if (waiter.task_token !== undefined) await ports.waker.fail(waiter.task_token, wireError.stale);
    await ports.log.closeWaiter(waiter, isoTime(ports.clock.nowMs()));
  }
}
