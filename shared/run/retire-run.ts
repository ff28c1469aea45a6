import type { Retirement } from "../release/release.ts";
import type { RunLog } from "../runlog/run-log.ts";
import { isOpen, retirementOf } from "../runlog/run-record.ts";

/** Times a run may change under us before it is left to the next sweep. */
const attemptsMax = 5;

/**
 * - `marked`, `marked_before`: it is retired.
 * - `elsewhere`: it has ended, or is on another version by now.
 * - `contended`: it changed again and again. Whoever comes next marks it.
 */
export type RetiredRun = "marked" | "marked_before" | "elsewhere" | "contended";

/** Marks a run of a retired version, so that nothing of it goes on there. Its status stays: what is in flight settles, and it may be moved. */
export async function retireRun(
  runId: string,
  version: number,
  { at, by, reason }: Retirement,
  log: Pick<RunLog, "readRun" | "change">,
): Promise<RetiredRun> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const run = await log.readRun(runId);
    if (!run || !isOpen(run.status) || run.workflow_version !== version) return "elsewhere";
    if (retirementOf(run)) return "marked_before";
    const { waiting_for, failure, moving_to } = run;
    const marked = await log.change(
      run,
      // What describes this status is written again, so it must still be the status.
      [run.status],
      {
        retired: { at, by, reason, workflow_version: version },
        ...(waiting_for !== undefined && { waiting_for }),
        ...(failure && { failure }),
        ...(moving_to && { moving_to }),
      },
    );
    if (marked) return "marked";
  }
  return "contended";
}
