import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

/** What .gitignore keeps out, for a checkout that came without git. */
const neverSource = new Set(["node_modules", "dist", "cdk.out", ".surefoot", "coverage", ".venv", ".git"]);

/** Paths below `root`, with forward slashes: what git tracks and what it would track next, or every file where git cannot say. */
export function sourceFiles(root: string): string[] {
  return gitFiles(root, ["--cached", "--others", "--exclude-standard"]) ?? filesBelow(root);
}

/** As `sourceFiles`, without what nobody has added yet: a scratch folder is not part of the layout. */
export function trackedFiles(root: string): string[] {
  return gitFiles(root, ["--cached"]) ?? filesBelow(root);
}

/** The text of each file by its path; binary files are left out. */
export function readTexts(root: string, paths: readonly string[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const path of paths) {
    const text = readFileSync(join(root, path), "utf8");
    if (!text.includes("\0")) texts.set(path, text);
  }
  return texts;
}

function gitFiles(root: string, which: readonly string[]): string[] | undefined {
  if (!existsSync(join(root, ".git"))) return undefined;
  try {
    const listed = execFileSync("git", ["ls-files", "-z", ...which], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 64 * 1024 * 1024,
    });
    // A file deleted but not yet committed is still listed.
    return [...new Set(listed.split("\0"))].filter((path) => path !== "" && existsSync(join(root, path)));
  } catch {
    // No git here, or a checkout that belongs to somebody else.
    return undefined;
  }
}

function filesBelow(root: string, folder = ""): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (neverSource.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(root, path);
    return entry.isFile() ? [path.split(sep).join("/")] : [];
  });
}
