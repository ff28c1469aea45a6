import { spawnSync } from "node:child_process";
import { join } from "node:path";

export const repository = join(import.meta.dirname, "../..");
const installer = ".ci/install-deploy.sh";
/** Some dozens of megabytes from a package index, on a slow line. */
const installMsMax = 5 * 60_000;

export type FoundPython = { readonly python: string } | { readonly missing: string };

/** A Python with the emulator, which is installed where it is not there yet. `missing` says why there is none. */
export function findPython(): FoundPython {
  if (spawnSync("openssl", ["version"]).status !== 0) {
    return { missing: "openssl was not found: the emulator serves HTTPS with it" };
  }
  const { status, error, stderr } = spawnSync("bash", [installer], {
    cwd: repository,
    encoding: "utf8",
    timeout: installMsMax,
  });
  if (status === 0) return { python: join(repository, ".venv/deploy/bin/python") };
  const lastSaid = (stderr ?? "").trim().split("\n").at(-1);
  return { missing: `bash ${installer} installed no emulator (${error?.message ?? `exit ${status}`}): ${lastSaid}` };
}
