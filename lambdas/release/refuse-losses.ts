import type { RunSummary, RunLog } from "../../shared/runlog/run-log.ts";
import type { ReleaseProperties, ReleaseRequest } from "./release-request.ts";

/** Runs that a refusal names: enough to begin with. */
const examplesMax = 3;

/**
 * Why a deployment may not take away what it takes away: its open runs would be lost with it. Undefined where none would, or where
 * somebody gave them up. The index it asks is behind by a moment; what is taken away takes no new runs by then.
 */
export async function lossesOf(
  request: ReleaseRequest,
  stackId: string,
  log: Pick<RunLog, "listOpenRuns">,
): Promise<string | undefined> {
  const gone = namesGone(request).filter((name) => !request.ResourceProperties.AbandonRuns.includes(name));
  if (gone.length === 0) return undefined;
  const open = await log.listOpenRuns();
  const lost = gone.filter((name) => open.some((run) => run.agent === name));
  if (lost.length === 0) return undefined;
  const counted = lost.map((name) =>
    ofAgent(
      name,
      open.filter((run) => run.agent === name),
    ),
  );
  const way = request.RequestType === "Delete" ? destroyAnyway(lost, stackId) : deployAnyway(lost);
  return `${counted.join("; ")}. They would be lost, so nothing was removed. Let them end, or surefoot cancel <run>. ${way}`;
}

/** Agents that are taken away although somebody knows of their runs. */
export const namesGivenUp = (request: ReleaseRequest): readonly string[] =>
  namesGone(request).filter((name) => request.ResourceProperties.AbandonRuns.includes(name));

function namesGone(request: ReleaseRequest): readonly string[] {
  const names = ({ Agents }: ReleaseProperties) => Agents.map(({ Name }) => Name);
  switch (request.RequestType) {
    case "Create":
      return [];
    case "Update": {
      const now = names(request.ResourceProperties);
      return names(request.OldResourceProperties).filter((name) => !now.includes(name));
    }
    case "Delete":
      return names(request.ResourceProperties);
    default:
      return request satisfies never;
  }
}

function ofAgent(name: string, runs: readonly RunSummary[]): string {
  const versions = [...new Set(runs.map((run) => run.workflow_version))].sort((a, b) => b - a);
  const perVersion = versions.map((version) => {
    const count = runs.filter((run) => run.workflow_version === version).length;
    return `${count} of version ${version}`;
  });
  const examples = runs.slice(0, examplesMax).map((run) => run.run_id);
  const more = runs.length > examples.length ? " and others" : "";
  const what = runs.length === 1 ? "1 open run" : `${runs.length} open runs`;
  return `${name} has ${what} (${perVersion.join(", ")}): ${examples.join(", ")}${more}; surefoot versions ${name} counts them`;
}

const flag = (names: readonly string[]) => `-c surefoot:abandonRuns=${names.join(",")}`;

const deployAnyway = (names: readonly string[]) => `To give them up: cdk deploy ${flag(names)}`;

const destroyAnyway = (names: readonly string[], stackId: string) =>
  `To give them up, say so by cdk deploy ${flag(names)} before cdk destroy; now it takes ` +
  `aws cloudformation delete-stack --deletion-mode FORCE_DELETE_STACK --stack-name ${stackId.split("/")[1] ?? stackId}`;
