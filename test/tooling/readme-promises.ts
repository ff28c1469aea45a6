/** A row of the README's table: what is promised, and what shows it. */
export interface Promised {
  readonly promise: string;
  readonly proofs: readonly string[];
}

/** What a proof may name. Paths have forward slashes. */
export interface Provers {
  readonly files: readonly string[];
  /** Of package.json. */
  readonly scripts: readonly string[];
  /** Of the `surefoot` command. */
  readonly commands: readonly string[];
}

const heading = "## What is promised, and the test that says so";

/** @throws Error where the README has no such section: then nothing would be checked. */
export function promisesOf(readme: string): readonly Promised[] {
  const [, section] = readme.split(`${heading}\n`);
  if (section === undefined) throw new Error(`expected the section "${heading}"`);
  const rows = (section.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("| "));
  return rows.slice(2).map((row) => {
    const [promise = "", proof = ""] = row
      .split("|")
      .slice(1)
      .map((cell) => cell.trim());
    return { promise, proofs: [...proof.matchAll(/`([^`]+)`/gu)].map(([, name = ""]) => name) };
  });
}

/** One line for each proof that is not there, and for each promise without any. */
export function unproven(promises: readonly Promised[], provers: Provers): readonly string[] {
  return promises.flatMap(({ promise, proofs }) => {
    if (proofs.length === 0) return [`"${promise}" names no test`];
    return proofs
      .filter((proof) => !isThere(proof, provers))
      .map((proof) => `"${promise}" names ${proof}, which is not there`);
  });
}

function isThere(proof: string, { files, scripts, commands }: Provers): boolean {
  const [first = "", second = "", third = ""] = proof.split(" ");
  if (first === "surefoot") return commands.includes(second);
  if (first === "npm" && second === "run") return scripts.includes(third);
  const tests = files.filter((file) => file.endsWith(".test.ts"));
  return proof.endsWith("/") ? tests.some((file) => file.startsWith(proof)) : tests.includes(proof);
}
