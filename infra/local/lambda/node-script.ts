import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const packageRoot = fileURLToPath(new URL("../../..", import.meta.url));
const written = new Map<string, string>();

/** Path of the module `name` beside `callerUrl` as something plain `node` runs: the `.js` of a build as it is, a `.ts` of the repository
 *  compiled once into the package's cache. Not through tsx: its loader costs a child most of a second, and a Lambda starts often. */
export function nodeScript(callerUrl: string, name: string): string {
  if (!callerUrl.endsWith(".ts")) return fileURLToPath(new URL(`./${name}.js`, callerUrl));
  const source = fileURLToPath(new URL(`./${name}.ts`, callerUrl));
  const known = written.get(source);
  if (known !== undefined && existsSync(known)) return known;

  const [output] = buildSync({
    entryPoints: [source],
    bundle: true,
    packages: "external", // the cache lies inside node_modules, so they resolve from there
    platform: "node",
    target: "node20",
    format: "esm",
    write: false,
    logLevel: "silent",
  }).outputFiles;
  const code = output?.text ?? "";
  const folder = join(packageRoot, "node_modules", ".cache", "surefoot");
  const file = join(folder, `${name}-${createHash("sha256").update(code).digest("hex").slice(0, 16)}.mjs`);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    // Renamed into place: several test workers compile the same script at once.
    writeFileSync(`${file}.${process.pid}`, code);
    renameSync(`${file}.${process.pid}`, file);
  }
  written.set(source, file);
  return file;
}
