import { existsSync } from "node:fs";
import { relative } from "node:path";
import { compareContracts } from "../../shared/contract/compare-contracts.ts";
import type { Manifest } from "../../shared/contract/manifest.ts";
import { contractFile, contractsFolder, readReleased } from "./contract-files.ts";

/**
 * What a deployment is told whose definition is not what was released under its version; undefined where it is, or where an agent keeps no
 * releases. A warning and no more: runs stay on the version that they started on, so a deployment hurts nobody at once. `surefoot contract
 * check` fails on the same.
 */
export function contractWarning(agentModule: string, current: Manifest): string | undefined {
  if (!existsSync(contractsFolder(agentModule))) return undefined;
  const { workflow_name: agent, workflow_version: version } = current;
  const file = relative(process.cwd(), contractFile(agentModule, version));
  try {
    const own = readReleased(agentModule, agent).find((release) => release.version === version);
    if (!own) return `${agent} version ${version} has no released contract: surefoot contract release writes ${file}`;
    const { verdict } = compareContracts(own.manifest, current);
    if (verdict === "same") return undefined;
    return `${agent} version ${version} is not what was released as ${file} (${verdict}): surefoot contract check says what changed`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
