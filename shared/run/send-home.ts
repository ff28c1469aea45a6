import { wireError } from "../compile/wire-errors.ts";
import { isoTime } from "../ports/clock.ts";
import type { Waker, WakeResult } from "../ports/executions.ts";
import type { RunLog } from "../runlog/run-log.ts";
import { isOpen, type RunRecord } from "../runlog/run-record.ts";
import type { Waiter } from "../waiter/waiter.ts";
import type { RunPorts } from "./ports.ts";

type HomePorts = Pick<RunPorts, "clock"> & { readonly log: Pick<RunLog, "closeWaiter">; readonly waker: Waker };

/** Whether nobody has to wait there any more: the run has ended, or is compensated by an execution that came after the one that waits. */
export const isCalledOff = (
  waiter: Pick<Waiter, "execution_attempt">,
  { status, compensation, execution_attempt }: RunRecord,
): boolean => !isOpen(status) || (compensation !== undefined && (waiter.execution_attempt ?? 0) < execution_attempt);

/** A state that waits learns that its wait is called off. Its execution ends quietly. */
export async function sendHome(waiter: Waiter, { waker, log, clock }: HomePorts): Promise<WakeResult> {
  const told = waiter.task_token === undefined ? "gone" : await waker.fail(waiter.task_token, wireError.stale);
  await log.closeWaiter(waiter, isoTime(clock.nowMs()));
  return told;
}
