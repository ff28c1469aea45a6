import type { SourceTree } from "./import-graph.ts";

const agreedFolders = new Set(["infra", "lambdas", "shared", "test"]);
/** A second look is due near 300 lines; past this a concept is still unnamed. */
const linesMax = 350;

/** Somebody's home, on Linux, macOS or Windows. Not preceded by a word, so that `https://host/home/page` is left alone. */
const homePath = /(?<![\w.~-])(?:\/(?:home|Users)\/\w[\w.-]*\/|\/root\/|[A-Z]:\\{1,2}Users\\)/;

/** Top-level folders nobody agreed on. Dotted ones configure tools and are free. */
export function unagreedFolders(paths: readonly string[]): string[] {
  const folders = new Set(paths.filter((path) => path.includes("/")).map((path) => path.slice(0, path.indexOf("/"))));
  return [...folders].filter((folder) => !agreedFolders.has(folder) && !folder.startsWith("."));
}

/** `lines  path` of every source file that grew too long, longest first. */
export function longFiles(tree: SourceTree): string[] {
  return [...tree]
    .filter(([path]) => /^(shared|lambdas|infra)\/.*\.ts$/.test(path))
    .map(([path, text]) => ({ path, lines: text.trimEnd().split("\n").length }))
    .filter(({ lines }) => lines > linesMax)
    .sort((a, b) => b.lines - a.lines)
    .map(({ path, lines }) => `${lines}  ${path}`);
}

/** `path:line  text` wherever a tracked file names a folder of the machine it was written on.
 *  @param checkout where this checkout lies; a path of one segment, like `/app`, is too plain to accuse anybody. */
export function machinePaths(tree: SourceTree, checkout: string): string[] {
  const checkoutTells = checkout.split(/[\\/]/).filter(Boolean).length >= 2;
  return linesOf(tree).flatMap(({ path, number, line }) => {
    const tells = homePath.test(line) || (checkoutTells && line.includes(checkout));
    return tells ? [`${path}:${number}  ${line.trim().slice(0, 120)}`] : [];
  });
}

/** Lock files that name where a package was downloaded, which ties them to one registry. */
export function lockedAddresses(tree: SourceTree): string[] {
  return linesOf(tree)
    .filter(({ path, line }) => path.endsWith("package-lock.json") && /"resolved": *"http/.test(line))
    .map(({ path, number }) => `${path}:${number}`);
}

function linesOf(tree: SourceTree): { path: string; number: number; line: string }[] {
  return [...tree].flatMap(([path, text]) =>
    text.split("\n").map((line, index) => ({ path, number: index + 1, line })),
  );
}
