import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Manifest, manifestDigest, manifestText } from "../../shared/contract/manifest.ts";

/** The contract of one version of an agent, as it was released and committed. */
export interface ReleasedContract {
  readonly version: number;
  readonly file: string;
  readonly manifest: Manifest;
}

/** Beside an agent's module: one file a version, never changed once it is there. */
export const contractsFolder = (agentModule: string): string => join(dirname(agentModule), "contracts");

export const contractFile = (agentModule: string, version: number): string =>
  join(contractsFolder(agentModule), `${version}.json`);

/** Every released contract of an agent, oldest version first. @throws Error `ContractFileError` that names the file and what is wrong with it. */
export function readReleased(agentModule: string, agent: string): readonly ReleasedContract[] {
  const folder = contractsFolder(agentModule);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^\d+\.json$/u.test(name)) : [];
  const released = names.map((name) => readContract(join(folder, name), Number.parseInt(name, 10), agent));
  return released.sort((a, b) => a.version - b.version);
}

/** `kept`: the very same contract was there. `differs`: another one is, and stays. */
export type Released = "written" | "kept" | "differs";

/** Writes the contract of a version, unless there is one. */
export function writeRelease(agentModule: string, manifest: Manifest): Released {
  const file = contractFile(agentModule, manifest.workflow_version);
  mkdirSync(dirname(file), { recursive: true });
  try {
    // Fails where the file is there: whoever releases at the same time cannot write over it either.
    writeFileSync(file, manifestText(manifest), { flag: "wx" });
    return "written";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const found = readContract(file, manifest.workflow_version, manifest.workflow_name);
    return manifestDigest(found.manifest) === manifestDigest(manifest) ? "kept" : "differs";
  }
}

function readContract(file: string, version: number, agent: string): ReleasedContract {
  const parsed = Manifest.safeParse(parseJson(file));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw contractFileError(`${file} is no contract (${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""})`);
  }
  const manifest = parsed.data;
  if (manifest.workflow_version !== version) {
    throw contractFileError(`${file} holds the contract of version ${manifest.workflow_version}, expected ${version}`);
  }
  if (manifest.workflow_name !== agent) {
    throw contractFileError(
      `${file} holds a contract of ${manifest.workflow_name}, expected ${agent}: give each agent a folder of its own`,
    );
  }
  return { version, file, manifest };
}

function parseJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw contractFileError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const contractFileError = (message: string): Error =>
  Object.assign(new Error(`${message}: restore it from version control`), { name: "ContractFileError" });
