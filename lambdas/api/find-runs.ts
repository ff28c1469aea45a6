import { BadRequest } from "../../shared/faults/faults.ts";
import type { RunLog, RunSummary } from "../../shared/runlog/run-log.ts";
import { isOpen, RunId, type RunStatus } from "../../shared/runlog/run-record.ts";

/** Runs of one agent that are looked at for an ended status: no index has it, and further back nobody looks by hand. */
const runsLookedAtMax = 1_000;

export interface RunFilter {
  readonly agent?: string | undefined;
  readonly workflow_id?: string | undefined;
  readonly status?: RunStatus | undefined;
  readonly limit: number;
}

/** Runs that fit every part of the filter, newest first. @throws BadRequest for an agent that nobody knows. */
export async function findRuns(
  filter: RunFilter,
  agents: readonly string[],
  log: RunLog,
): Promise<readonly RunSummary[]> {
  const found = (await candidates(filter, agents, log))
    .filter((run) => filter.agent === undefined || run.agent === filter.agent)
    .filter((run) => filter.status === undefined || run.status === filter.status)
    .sort((a, b) => b.created_at.localeCompare(a.created_at))
    .slice(0, filter.limit);
  if (found.length === 0 && filter.agent !== undefined && !agents.includes(filter.agent)) {
    throw new BadRequest(
      "unknown_agent",
      `there is no agent "${filter.agent}" here: expected one of ${agents.join(", ")}`,
      404,
    );
  }
  return found;
}

async function candidates(
  { agent, workflow_id, status, limit }: RunFilter,
  agents: readonly string[],
  log: RunLog,
): Promise<readonly RunSummary[]> {
  if (workflow_id !== undefined) return log.listRunsOfWorkflow(workflow_id);
  // However old: an open run that waits for months is exactly the one somebody looks for.
  if (status !== undefined && isOpen(status)) return log.listOpenRuns();
  if (agent === "") return [];
  const names = agent === undefined ? agents : [agent];
  const lookedAt = status === undefined ? limit : runsLookedAtMax;
  return (await Promise.all(names.map((name) => log.listRuns({ agent: name, limit: lookedAt })))).flat();
}

/** @throws BadRequest where the text cannot be a run's id: no database is asked for it. */
export function checkRunId(text: string): RunId {
  const parsed = RunId.safeParse(text);
  if (parsed.success) return parsed.data;
  throw unknownRun(text);
}

export const unknownRun = (id: string): BadRequest =>
  new BadRequest("unknown_run", `there is no run "${id}": surefoot runs lists them`, 404);
