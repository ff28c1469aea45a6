import type { Agent } from "../agent/agent.ts";
import type { PlaceComparison } from "../contract/compare-at.ts";
import { Fault } from "../faults/fault.ts";
import type { Position } from "../runlog/position.ts";
import { retirementOf, type RunRecord } from "../runlog/run-record.ts";

/** Why this code may not simply continue the run. Nothing ran. */
export const versionRefused = (run: RunRecord, comparison: PlaceComparison, position: Position): Fault =>
  new Fault("version_incompatible", "final", `${refusalInWords(run, comparison)}. Nothing ran`, {
    facts: { position, from_version: comparison.from, to_version: comparison.to, verdict: comparison.verdict },
  });

/** For a person who wants to move a run. */
export function refusalInWords(
  { run_id }: Pick<RunRecord, "run_id">,
  { verdict, from, to, hurts }: PlaceComparison,
): string {
  const why = [...new Set(hurts.map((hurt) => hurt.because))].join("; ");
  const found = `run ${run_id} of version ${from} does not simply go on under version ${to}`;
  const way =
    verdict === "incompatible"
      ? `it ends on version ${from}, or is forked`
      : `surefoot resume ${run_id} --version ${to} takes it there (${verdict === "migrate" ? "its state is migrated" : "its person is asked again"})`;
  return `${found}${why === "" ? "" : `, since ${why}`}: ${way}`;
}

/** @throws Fault `version_retired` where the run is still on a version that was retired. */
export function refuseRetired(agent: Agent, run: RunRecord): void {
  const retired = retirementOf(run);
  if (!retired || agent.version !== run.workflow_version) return;
  throw new Fault(
    "version_retired",
    "final",
    `version ${run.workflow_version} of ${run.agent} was retired by ${retired.by}: ${retired.reason}. Nothing ran`,
    { facts: { workflow_version: run.workflow_version, retired_at: retired.at } },
  );
}
