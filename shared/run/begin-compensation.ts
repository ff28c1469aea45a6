import { isoTime } from "../ports/clock.ts";
import type { RunChange } from "../runlog/run-log.ts";
import { openRunStatuses, type RunCompensation, type RunRecord } from "../runlog/run-record.ts";
import type { RunPorts } from "./ports.ts";

/**
 * From now on no node of the run starts. What it did is undone, and then it ends as `ends` says. `moving` hands the run to another
 * execution in the same write. @returns whether it holds: not where somebody else moved or ended the run meanwhile.
 */
export async function beginCompensation(
  run: RunRecord,
  { because, ends }: Omit<RunCompensation, "since">,
  ports: Pick<RunPorts, "log" | "clock" | "logger">,
  moving: Pick<RunChange, "execution" | "execution_attempt"> = {},
): Promise<boolean> {
  const compensation = { because, since: isoTime(ports.clock.nowMs()), ends };
  const holds = await ports.log.change(run, openRunStatuses, { status: "RUNNING", compensation, ...moving });
  if (!holds) return false;
  ports.logger.info("run is compensated", {
    run_id: run.run_id,
    workflow_id: run.workflow_id,
    workflow_version: run.workflow_version,
    because,
  });
  return true;
}
