import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const checkout = fileURLToPath(new URL("../..", import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "count-"));
  mkdirSync(join(folder, "reports"));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface TestFile {
  readonly status: string;
  readonly message?: string;
  /** Title to status. */
  readonly tests: Readonly<Record<string, string>>;
}

function count(steps: readonly string[], reports: Readonly<Record<string, TestFile>>) {
  writeFileSync(join(folder, "steps.tsv"), steps.map((step) => `${step}\n`).join(""));
  for (const [suite, { status, message = "", tests }] of Object.entries(reports)) {
    const assertionResults = Object.entries(tests).map(([fullName, outcome]) => ({ fullName, status: outcome }));
    const testResults = [{ name: join(checkout, "test/a.test.ts"), status, message, assertionResults }];
    writeFileSync(join(folder, "reports", `${suite}.json`), JSON.stringify({ testResults }));
  }
  const run = spawnSync(process.execPath, [".ci/count.mjs", join(folder, "steps.tsv"), join(folder, "reports")], {
    cwd: checkout,
    encoding: "utf8",
  });
  return { code: run.status, lines: run.stdout.trimEnd().split("\n") };
}

describe("the verdict of a whole run", () => {
  it("adds the steps and the tests of every report", () => {
    const { code, lines } = count(["passed\tlint", "passed\ttests"], {
      "node-a": { status: "passed", tests: { one: "passed", two: "passed" } },
      "node-b": { status: "passed", tests: { one: "passed" } },
    });
    expect(lines).toEqual(["5 passed, 0 failed"]);
    expect(code).toBe(0);
  });

  it("names failed steps and failed tests, and ends with the numbers", () => {
    const { code, lines } = count(["passed\tlint", "failed\ttests"], {
      "node-a": { status: "failed", tests: { one: "passed", two: "failed" } },
    });
    expect(lines).toEqual(["Failed:", "  step: tests", "  node-a: test/a.test.ts: two", "", "2 passed, 2 failed"]);
    expect(code).toBe(1);
  });

  it("counts a file that could not be loaded as a failure", () => {
    const { code, lines } = count([], {
      "node-a": { status: "failed", message: "Cannot find module\nstack", tests: {} },
    });
    expect(lines).toEqual(["Failed:", "  node-a: test/a.test.ts: Cannot find module", "", "0 passed, 1 failed"]);
    expect(code).toBe(1);
  });

  it("mentions skipped tests and does not fail for them", () => {
    const { code, lines } = count([], {
      "node-a": { status: "passed", tests: { one: "passed", two: "pending", three: "todo" } },
    });
    expect(lines).toEqual(["1 passed, 0 failed, 2 skipped"]);
    expect(code).toBe(0);
  });

  it("fails where no test ran, however well the steps went", () => {
    const { code, lines } = count(["passed\tlint"], {});
    expect(lines.at(-1)).toBe("1 passed, 1 failed");
    expect(code).toBe(1);
  });
});
