import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

/** One line of ours, as a careless change would leave it. */
export interface Sabotage {
  readonly name: string;
  /** Relative to the package. */
  readonly file: string;
  /** Occurs exactly once in the file, else the sabotage has rotted and says so. */
  readonly line: string;
  readonly becomes: string;
}

const packageFolder = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Loads `entry` (relative to the package) with one line of one file changed, in memory: the tree stays as it is. Packages are the
 * installed ones.
 * @throws Error when the line is not there exactly once.
 */
export async function loadSabotaged<T>(entry: string, sabotage: Sabotage): Promise<T> {
  const file = join(packageFolder, sabotage.file);
  const source = readFileSync(file, "utf8");
  const found = source.split(sabotage.line).length - 1;
  if (found !== 1)
    throw new Error(`"${sabotage.name}": expected its line once in ${sabotage.file}, found it ${found} times`);
  // Beside the packages, so that they are found and need not be bundled.
  const cache = join(packageFolder, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "surefoot-sabotage-"));
  const outfile = join(folder, "sabotaged.mjs");
  try {
    await build({
      entryPoints: [join(packageFolder, entry)],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      logLevel: "silent",
      packages: "external",
      plugins: [
        {
          name: "sabotage",
          setup({ onLoad }) {
            onLoad({ filter: /\.ts$/ }, ({ path }) =>
              path === file
                ? { contents: source.replace(sabotage.line, () => sabotage.becomes), loader: "ts" }
                : undefined,
            );
          },
        },
      ],
    });
    return (await import(pathToFileURL(outfile).href)) as T;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
