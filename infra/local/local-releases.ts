import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { digestOf } from "../../shared/operation/canonical-json.ts";
import type { CompiledAgent } from "../../shared/index.ts";
import { manifestDigest } from "../../shared/contract/manifest.ts";
import type { Bundle } from "../bundle-lambda.ts";

const Kept = z.object({
  agent: z.string(),
  number: z.number().int().positive(),
  workflow_version: z.number().int().positive(),
  contract_digest: z.string(),
  released_at: z.string(),
  /** Of what it runs: the same again is no other release. */
  content: z.string(),
  definition: z.string(),
});

/** What a deployment is on AWS: a version of an agent's states with the version of the function that they call. */
export interface LocalRelease extends z.infer<typeof Kept> {
  readonly bundleFile: string;
}

const releaseFile = "release.json";
/** Holds the last number that was given: the number of a release that was deleted never means another one. */
const lastFile = "last";

/**
 * Keeps what an agent runs, under the next number, unless the newest release is just that. Runs that began on an earlier one go on with
 * that one, however often the runner was started with other code since.
 */
export function keepLocalRelease(
  folder: string,
  compiled: CompiledAgent,
  bundle: Pick<Bundle, "file" | "sha256">,
  releasedAt: string,
): LocalRelease {
  const known = readLocalReleases(folder, compiled.name);
  const definition = JSON.stringify(compiled.definition);
  const content = digestOf({ bundle: bundle.sha256, definition });
  const newest = known[0];
  if (newest?.content === content) return newest;
  const own = join(folder, "releases", compiled.name);
  mkdirSync(own, { recursive: true });
  const number = Math.max(newest?.number ?? 0, lastGiven(own)) + 1;
  writeFileSync(join(own, lastFile), String(number));
  const kept: z.infer<typeof Kept> = {
    agent: compiled.name,
    number,
    workflow_version: compiled.version,
    contract_digest: manifestDigest(compiled.manifest),
    released_at: releasedAt,
    content,
    definition,
  };
  // Complete or not there: whoever dies in between leaves a folder that no number has.
  const draft = mkdtempSync(join(own, "draft-"));
  cpSync(dirname(bundle.file), draft, { recursive: true });
  writeFileSync(join(draft, releaseFile), JSON.stringify(kept));
  renameSync(draft, join(own, String(number)));
  return { ...kept, bundleFile: join(own, String(number), "index.mjs") };
}

function lastGiven(own: string): number {
  const file = join(own, lastFile);
  return existsSync(file) ? z.coerce.number().int().parse(readFileSync(file, "utf8")) : 0;
}

/** An agent's releases on this machine, newest first. */
export function readLocalReleases(folder: string, agent: string): readonly LocalRelease[] {
  const own = join(folder, "releases", agent);
  if (!existsSync(own)) return [];
  return readdirSync(own)
    .filter((name) => /^\d+$/u.test(name))
    .map((name) => ({
      ...Kept.parse(JSON.parse(readFileSync(join(own, name, releaseFile), "utf8"))),
      bundleFile: join(own, name, "index.mjs"),
    }))
    .sort((a, b) => b.number - a.number);
}
