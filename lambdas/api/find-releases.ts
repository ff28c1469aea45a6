import { BadRequest } from "../../shared/faults/faults.ts";
import { liveRelease, retirementIn, versionsOf } from "../../shared/release/live-release.ts";
import type { Release } from "../../shared/release/release.ts";
import type { Releases } from "../../shared/release/releases.ts";
import type { RunLog, RunSummary } from "../../shared/runlog/run-log.ts";
import type { RunStatus } from "../../shared/runlog/run-record.ts";

/** Open runs of a version that are named: enough to look at one. */
const examplesMax = 5;

/** The releases of each agent, and the open runs that need them. @throws BadRequest for an agent that nobody knows. */
export async function findReleases(
  agent: string | undefined,
  agents: readonly string[],
  { releases, log }: { readonly releases: Releases; readonly log: Pick<RunLog, "listOpenRuns"> },
) {
  const open = await log.listOpenRuns();
  const names = agent === undefined ? agents : [agent];
  const found = await Promise.all(
    names.map(async (name) =>
      agentView(
        name,
        await releases.list(name),
        open.filter((run) => run.agent === name),
      ),
    ),
  );
  // One that is deployed no more still has its releases.
  const unknown = agent !== undefined && !agents.includes(agent) && found[0]?.versions.length === 0;
  if (!unknown) return { agents: found };
  throw new BadRequest("unknown_agent", `there is no agent "${agent}" here: expected one of ${agents.join(", ")}`, 404);
}

function agentView(agent: string, releases: readonly Release[], open: readonly RunSummary[]) {
  const live = liveRelease(releases)?.workflow_version;
  // Runs of before releases were kept are on a version without one.
  const versions = [...new Set([...versionsOf(releases), ...open.map((run) => run.workflow_version)])];
  return {
    agent,
    /** New runs start on it. Absent where nothing was ever registered. */
    live_version: live,
    versions: versions
      .sort((a, b) => b - a)
      .map((version) => ({
        workflow_version: version,
        live: version === live,
        retired: retirementIn(releases, version),
        open_runs: openRuns(open.filter((run) => run.workflow_version === version)),
        releases: releases
          .filter((release) => release.workflow_version === version)
          .map(({ contract_digest, state_machine_arn, released_at }) => ({
            contract_digest,
            state_machine_arn,
            released_at,
          })),
      })),
  };
}

function openRuns(runs: readonly RunSummary[]) {
  const by_status: Partial<Record<RunStatus, number>> = {};
  for (const { status } of runs) by_status[status] = (by_status[status] ?? 0) + 1;
  const oldestFirst = [...runs].sort((a, b) => a.created_at.localeCompare(b.created_at));
  return { total: runs.length, by_status, examples: oldestFirst.slice(0, examplesMax).map((run) => run.run_id) };
}
