import { table } from "./output.ts";
import type { RetiredVersion, Version, Versions } from "./release-shapes.ts";

/** Which versions there are, and what may be said of each. */
export function describeVersions({ agents }: Versions): string {
  const rows = agents.flatMap(({ agent, versions }) =>
    versions.map((version) => [
      agent,
      String(version.workflow_version),
      stateOf(version),
      version.releases[0]?.released_at.slice(0, 19).replace("T", " ") ?? "-",
      version.open_runs.total === 0 ? "0" : `${version.open_runs.total} (${statusesOf(version)})`,
      version.open_runs.examples[0] ?? "-",
    ]),
  );
  if (rows.length === 0) return "no releases: a deployment registers what it runs";
  return [
    table(["AGENT", "VERSION", "STATE", "RELEASED", "OPEN RUNS", "OLDEST"], rows),
    "",
    ...agents.flatMap(({ agent, versions }) => versions.map((version) => sentence(agent, version))),
  ].join("\n");
}

const stateOf = ({ live, retired }: Version): string => (retired ? "retired" : live ? "live" : "kept");

const statusesOf = ({ open_runs }: Version): string =>
  Object.entries(open_runs.by_status)
    .map(([status, count]) => `${count} ${status}`)
    .join(", ");

function sentence(agent: string, { workflow_version: version, live, retired, open_runs }: Version): string {
  const name = `${agent} version ${version}`;
  if (retired) {
    const why = `${name} was retired by ${retired.by} (${retired.reason})`;
    if (open_runs.total === 0) return `${why}, and nobody needs it any more.`;
    return `${why}: ${runsOf(open_runs.total)} stopped there. surefoot resume <run> --version <n>, fork or cancel moves them on.`;
  }
  if (live) return `${name} is live: new runs start on it.`;
  if (open_runs.total === 0) return `${name} is not needed any more: no run is open on it.`;
  return `${name} is still needed: ${runsOf(open_runs.total)} end on it.`;
}

const runsOf = (count: number): string => (count === 1 ? "1 run" : `${count} runs`);

/** What became of the runs of a version that was retired. */
export function describeRetired({ agent, workflow_version: version, retired, changed, runs, next }: RetiredVersion) {
  const before = runs.marked_before === 0 ? "" : `, ${runs.marked_before} before`;
  const left = runs.left === 0 ? "" : `, ${runs.left} are left to the sweep`;
  return [
    changed
      ? `${agent} version ${version} is retired: none of its runs goes on by itself`
      : `${agent} version ${version} was retired by ${retired.by} at ${retired.at} (${retired.reason})`,
    `open runs marked: ${runs.marked}${before}${left}`,
    ...runs.examples.map((run) => `  ${run}`),
    ...next,
  ].join("\n");
}
