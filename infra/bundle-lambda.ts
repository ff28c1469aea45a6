import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, extname, join, relative, resolve } from "node:path";
import { build, buildSync, type BuildFailure, type BuildOptions, type BuildResult, type Message } from "esbuild";

/** Lambda unpacks and compiles the whole file on every cold start; past this an agent has pulled in something that does not belong there. */
export const bundleBytesMax = 5 * 1024 * 1024;
/** Enough to see the culprit, few enough to read. */
const largestInputsShown = 8;

const packageRoot = dirname(import.meta.dirname);
/** What an agent imports as `surefoot`: the very files the runtime uses, `.ts` in the repository and `.js` in a build. */
const surefootModule = join(packageRoot, "shared", `index${extname(import.meta.filename)}`);

/** CommonJS dependencies call `require`, `__filename` and `__dirname`, which an ES module does not have. */
const commonJsBanner = [
  `import { createRequire as __surefootRequire } from "node:module";`,
  `import { fileURLToPath as __surefootPath } from "node:url";`,
  `const require = __surefootRequire(import.meta.url);`,
  `const __filename = __surefootPath(import.meta.url);`,
  `const __dirname = __surefootPath(new URL(".", import.meta.url));`,
].join("\n");

export interface BundleRequest {
  /** The module that exports `handler`. */
  readonly entry: string;
  /** Modules whose default export is an agent: `import agents from "surefoot:agents"` gives them, in this order. @default [] */
  readonly agentModules?: readonly string[];
  /** Gets `index.mjs` and `index.mjs.map`; created if missing. */
  readonly outdir: string;
}

export interface Bundle {
  readonly file: string;
  readonly bytes: number;
  /** Of `index.mjs`. The same sources give the same digest from any working directory and into any `outdir`. */
  readonly sha256: string;
}

/** One self-contained, minified ES module that exports `handler`, for Lambda and for the local runner alike.
 *  @throws Error `BundleError` with one line per fault, `file:line:column: what`; or when the bundle exceeds `bundleBytesMax`. */
export async function bundleLambda(request: BundleRequest): Promise<Bundle> {
  const agents = writeAgentsModule(request.agentModules ?? []);
  try {
    return writeBundle(request, await build(buildOptions(request, agents.file)), agents.file);
  } catch (fault) {
    throw readable(fault);
  } finally {
    agents.remove();
  }
}

/** `bundleLambda` for constructors, which cannot wait. Blocks the event loop for the whole build. */
export function bundleLambdaSync(request: BundleRequest): Bundle {
  const agents = writeAgentsModule(request.agentModules ?? []);
  try {
    return writeBundle(request, buildSync(buildOptions(request, agents.file)), agents.file);
  } catch (fault) {
    throw readable(fault);
  } finally {
    agents.remove();
  }
}

/** The specifiers are aliases, not a plugin's, because esbuild runs no plugins in `buildSync`, and one way of resolving is enough. */
function buildOptions({ entry }: BundleRequest, agentsModule: string) {
  return {
    entryPoints: [existing(entry, "entry")],
    alias: { "surefoot:agents": agentsModule, surefoot: surefootModule },
    // Neither the working directory nor `outdir` may show in the output, its source map included.
    absWorkingDir: packageRoot,
    outfile: join(packageRoot, "index.mjs"),
    write: false,
    metafile: true,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    mainFields: ["module", "main"],
    minify: true,
    keepNames: true,
    sourcemap: "linked",
    sourcesContent: false,
    legalComments: "none",
    banner: { js: commonJsBanner },
    logLevel: "silent",
  } as const satisfies BuildOptions;
}

type BuiltBundle = BuildResult<ReturnType<typeof buildOptions>>;

function writeAgentsModule(agentModules: readonly string[]): { file: string; remove: () => void } {
  const modules = agentModules.map((module) => existing(module, "agent module"));
  // esbuild reports real paths, and a temporary folder is often a link.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "surefoot-agents-")));
  const file = join(folder, "agents.mjs");
  const imports = modules.map((module, index) => `import a${index} from ${JSON.stringify(module)};\n`).join("");
  writeFileSync(file, `${imports}export default [${modules.map((_, index) => `a${index}`).join(", ")}];\n`);
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function existing(path: string, what: string): string {
  const absolute = resolve(path);
  if (existsSync(absolute)) return absolute;
  throw bundleError(`${what} ${path} was not found; expected a file at ${absolute}: correct the path`);
}

function writeBundle(
  { outdir, entry }: BundleRequest,
  { outputFiles, metafile }: BuiltBundle,
  agentsFile: string,
): Bundle {
  const code = outputFiles.find(({ path }) => path.endsWith(".mjs"))?.contents ?? new Uint8Array();
  if (code.byteLength > bundleBytesMax) throw tooLarge(entry, code.byteLength, metafile);
  mkdirSync(outdir, { recursive: true });
  for (const { path, contents, text } of outputFiles) {
    const isMap = path.endsWith(".map");
    const file = join(outdir, isMap ? "index.mjs.map" : "index.mjs");
    // Renamed into place, so that a Lambda that starts meanwhile loads the old file or the new one, never half of it.
    writeFileSync(`${file}.${process.pid}`, isMap ? withoutTemporaryPath(text, agentsFile) : contents);
    renameSync(`${file}.${process.pid}`, file);
  }
  const sha256 = createHash("sha256").update(code).digest("hex");
  return { file: join(resolve(outdir), "index.mjs"), bytes: code.byteLength, sha256 };
}

/** The generated module lies in a new folder each time, and only the source map would tell. */
function withoutTemporaryPath(sourceMap: string, agentsFile: string): string {
  const map = JSON.parse(sourceMap) as { sources: string[] }; // just written by esbuild
  const sources = map.sources.map((source) =>
    resolve(packageRoot, source) === agentsFile ? "surefoot:agents" : source,
  );
  return JSON.stringify({ ...map, sources });
}

function tooLarge(entry: string, bytes: number, metafile: BuiltBundle["metafile"]): Error {
  const bytesByOwner = new Map<string, number>();
  for (const output of Object.values(metafile.outputs)) {
    for (const [input, { bytesInOutput }] of Object.entries(output.inputs)) {
      const owner = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? input;
      bytesByOwner.set(owner, (bytesByOwner.get(owner) ?? 0) + bytesInOutput);
    }
  }
  const largest = [...bytesByOwner].sort(([, a], [, b]) => b - a).slice(0, largestInputsShown);
  return bundleError(
    `the bundle of ${entry} has ${bytes} bytes, expected at most ${bundleBytesMax}: ` +
      `import less, or only the part you need. Its largest inputs:\n` +
      largest.map(([owner, size]) => `  ${Math.ceil(size / 1024)} KiB  ${owner}`).join("\n"),
  );
}

function readable(fault: unknown): unknown {
  return isBuildFailure(fault) ? bundleError(fault.errors.map(oneLine).join("\n")) : fault;
}

function oneLine({ text, location, notes }: Message): string {
  const subpath = text.split(`${surefootModule}/`)[1]?.split('"')[0];
  const hint = notes[0]?.text ? ` (${notes[0].text})` : "";
  const what =
    subpath === undefined
      ? `${text}${hint}`
      : `"surefoot/${subpath}" does not run in a Lambda: an agent imports from "surefoot" only`;
  if (!location) return what;
  return `${relative(process.cwd(), resolve(packageRoot, location.file))}:${location.line}:${location.column + 1}: ${what}`;
}

function isBuildFailure(fault: unknown): fault is BuildFailure {
  return fault instanceof Error && "errors" in fault && Array.isArray(fault.errors);
}

function bundleError(message: string): Error {
  return Object.assign(new Error(message), { name: "BundleError" });
}
