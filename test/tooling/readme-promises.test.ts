import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../infra/cli/program.ts";
import { promisesOf, unproven } from "./readme-promises.ts";
import { sourceFiles } from "./source-files.ts";

const checkout = fileURLToPath(new URL("../..", import.meta.url));
const textOf = (file: string) => readFileSync(join(checkout, file), "utf8");

describe("the README's promises", () => {
  const promises = promisesOf(textOf("README.md"));

  it("each name a test, a drill or a suite that is there", () => {
    const { scripts } = JSON.parse(textOf("package.json")) as { readonly scripts: Readonly<Record<string, string>> };
    const provers = {
      files: sourceFiles(checkout),
      scripts: Object.keys(scripts),
      commands: createProgram().commands.map((command) => command.name()),
    };
    expect(promises.length).toBeGreaterThan(20);
    expect(unproven(promises, provers)).toEqual([]);
  });

  it("name every test of the drills", () => {
    const drills = sourceFiles(checkout).filter((file) => /^test\/drills\/.*drill\.test\.ts$/u.test(file));
    expect(drills.length).toBeGreaterThan(2);
    expect(promises.flatMap(({ proofs }) => proofs)).toEqual(expect.arrayContaining(drills));
  });
});

describe("a promise", () => {
  const provers = { files: ["test/a/one.test.ts", "test/b/builder.ts"], scripts: ["test:b"], commands: ["drill"] };
  const told = (proof: string) =>
    unproven(
      promisesOf(
        `# P\n\n## What is promised, and the test that says so\n\n| promise | test |\n| --- | --- |\n| it holds | ${proof} |\n\n## Next\n\n| no | \`row\` |\n`,
      ),
      provers,
    );

  it.each(["`test/a/one.test.ts`", "`test/a/`", "`npm run test:b`, `surefoot drill x`"])("is shown by %s", (proof) => {
    expect(told(proof)).toEqual([]);
  });

  it.each([
    "`test/a/two.test.ts`",
    "`test/b/`",
    "`test/b/builder.ts`",
    "`npm run test:c`",
    "`surefoot prove`",
    "`hope`",
  ])("is not shown by %s", (proof) => {
    expect(told(proof)).toEqual([`"it holds" names ${proof.replaceAll("`", "")}, which is not there`]);
  });

  it("that names nothing is told", () => {
    expect(told("trust us")).toEqual(['"it holds" names no test']);
  });

  it("is looked for in its section, which has to be there", () => {
    expect(() => promisesOf("# P\n")).toThrow('expected the section "## What is promised');
  });
});
