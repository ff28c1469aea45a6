import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { compareContracts } from "../../shared/contract/compare-contracts.ts";
import { type Manifest, manifestOf } from "../../shared/contract/manifest.ts";
import { checkContract, type ContractCheck } from "../contract/check-contract.ts";
import { contractFile, readReleased, writeRelease } from "../contract/contract-files.ts";
import { loadAgents } from "../local/load-agents.ts";
import { agentError } from "./agent-error.ts";
import { CliError } from "./cli-error.ts";
import { describeCheck } from "./describe-contract.ts";
import { liveRuns } from "./live-runs.ts";
import type { Session } from "./session.ts";
import { refundAgentModule } from "./shipped-agent.ts";

export interface CheckOptions {
  readonly agent?: string[];
  readonly replay: string;
  readonly against?: string;
}

/** Compares agents as they are now. @returns the exit code: 1 where something must not go out like this. */
export const checkContracts = (options: CheckOptions, session: Session): Promise<0 | 1> =>
  toldToCaller(() => check(options, session));

/** Writes the contract of each agent's version. Nothing is written where one of them may not be. */
export const releaseContracts = (modules: readonly string[] | undefined, session: Session): Promise<void> =>
  toldToCaller(() => release(modules, session));

async function toldToCaller<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw agentError(error) ?? error;
  }
}

async function check(options: CheckOptions, session: Session): Promise<0 | 1> {
  const checks: ContractCheck[] = [];
  for (const { current, agentModule } of await loadManifests(options.agent)) {
    const live = options.against === "live" ? await askLive(session, current.workflow_name) : undefined;
    checks.push(checkContract({ current, agentModule, replayFolder: resolve(options.replay), ...(live && { live }) }));
  }
  const passed = checks.every(({ problems }) => problems.length === 0);
  session.output.result({ passed, agents: checks }, () => checks.map(describeCheck).join("\n\n"));
  return passed ? 0 : 1;
}

async function release(modules: readonly string[] | undefined, { output }: Session): Promise<void> {
  const agents = await loadManifests(modules);
  for (const { current, agentModule } of agents) mayRelease(current, agentModule);
  const released = agents.map(({ current, agentModule }) => {
    const file = relative(process.cwd(), contractFile(agentModule, current.workflow_version));
    const written = writeRelease(agentModule, current) === "written";
    return { agent: current.workflow_name, version: current.workflow_version, file, written };
  });
  output.result({ released }, () =>
    released
      .map(({ agent, version, file, written }) =>
        written
          ? `${agent} version ${version}: wrote ${file}; commit it with the change`
          : `${agent} version ${version} was released before, with this very contract (${file})`,
      )
      .join("\n"),
  );
}

interface Loaded {
  readonly current: Manifest;
  readonly agentModule: string;
}

async function loadManifests(modules: readonly string[] | undefined): Promise<readonly Loaded[]> {
  const paths = modules?.map((module) => resolve(module)) ?? [refundAgentModule()];
  const missing = paths.find((path) => !existsSync(path) || !statSync(path).isFile());
  if (missing !== undefined) {
    throw new CliError(2, "no_module", `--agent names ${missing}, which is no file: pass a .ts or .js module`);
  }
  const folder = mkdtempSync(join(tmpdir(), "surefoot-contract-"));
  try {
    const agents = await loadAgents(paths, folder);
    return agents.map((agent, index) => ({ current: manifestOf(agent), agentModule: paths[index] ?? "" }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function askLive({ api, output }: Session, agent: string) {
  const { runs, isCut } = await liveRuns(api(), agent);
  if (isCut)
    output.progress(`${agent} has more open runs than the API lists: the newest of each status were looked at`);
  return runs;
}

/** A release is never changed, and versions only go up. */
function mayRelease(current: Manifest, agentModule: string): void {
  const { workflow_name: agent, workflow_version: version } = current;
  const releases = readReleased(agentModule, agent);
  const newest = releases.at(-1)?.version ?? 0;
  const own = releases.find((release) => release.version === version);
  if (!own && version < newest) {
    throw new CliError(
      1,
      "older_version",
      `${agent}: version ${version} comes after ${newest}: give it a version above`,
    );
  }
  if (!own) return;
  const comparison = compareContracts(own.manifest, current);
  if (comparison.verdict === "same") return;
  const what = comparison.nodes.map(({ node, what: changes }) => `${node ?? agent} ${changes.join(", ")}`).join("; ");
  throw new CliError(
    1,
    "released",
    `${relative(process.cwd(), own.file)} holds another contract of version ${version} (${what}): a release is never changed; raise the version to ${newest + 1}`,
    { comparison },
  );
}
