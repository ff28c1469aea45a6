import { resumeRun } from "../run/resume-run.ts";
import { retireRun } from "../run/retire-run.ts";
import type { RunSummary } from "../runlog/run-log.ts";
import { isOpen, retirementOf } from "../runlog/run-record.ts";
import type { RetiredVersions } from "./retired-versions.ts";
import type { SweepDeed, SweepPorts } from "./sweep-ports.ts";

/** A run younger than this may not have its execution yet: its starter writes the run first. */
export const startGraceMs = 60_000;

/**
 * Takes up a run that says it goes on, or waits, while no execution is there to do so. One that a person must mend first stays parked. One
 * whose version was retired while nobody marked it is marked.
 */
export async function sweepRun(
  indexed: Pick<RunSummary, "run_id">,
  ports: SweepPorts,
  retired: RetiredVersions,
): Promise<SweepDeed> {
  const run = await ports.log.readRun(indexed.run_id);
  if (!run || !isOpen(run.status)) return "nothing";
  const retirement = retirementOf(run) ? undefined : await retired.of(run.agent, run.workflow_version);
  if (retirement) {
    const marked = await retireRun(run.run_id, run.workflow_version, retirement, ports.log);
    return marked === "marked" ? "retired" : "nothing";
  }
  const waitsForMending = run.status === "PARKED" && run.waiting_for === undefined;
  const young = ports.clock.nowMs() - Date.parse(run.updated_at) < startGraceMs;
  if (waitsForMending || young) return "nothing";
  if (await ports.executionStates.isRunning(run.state_machine_arn, run.execution)) return "nothing";
  const { resumed } = await resumeRun(run.run_id, ports);
  return resumed ? "resumed" : "nothing";
}
