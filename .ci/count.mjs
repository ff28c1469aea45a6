// node .ci/count.mjs <steps.tsv> <reports folder>
// Adds the steps of a run and the tests of its Vitest JSON reports, names what failed, and prints the verdict as its last line.
// Exits 1 when anything failed or when no test ran at all: a run that tested nothing has not passed.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const [stepsFile, reportsFolder] = process.argv.slice(2);
const checks = [...stepChecks(stepsFile), ...testChecks(reportsFolder)];
const having = (outcome) => checks.filter((check) => check.outcome === outcome);

const failed = having("failed");
const ranTests = checks.some(({ kind, outcome }) => kind === "test" && outcome !== "skipped");
if (!ranTests) failed.push({ name: "no test ran" });

if (failed.length > 0) console.log(["Failed:", ...failed.map(({ name }) => `  ${name}`), ""].join("\n"));
const skipped = having("skipped").length;
console.log(`${having("passed").length} passed, ${failed.length} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = failed.length > 0 ? 1 : 0;

function stepChecks(file) {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => {
    const [outcome, name] = line.split("\t");
    return { kind: "step", outcome, name: `step: ${name}` };
  });
}

function testChecks(folder) {
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  return files.flatMap((file) => {
    const report = JSON.parse(readFileSync(join(folder, file), "utf8"));
    return report.testResults.flatMap((testFile) => fileChecks(file.replace(/\.json$/, ""), testFile));
  });
}

function fileChecks(suite, { name, status, message, assertionResults }) {
  const path = relative(process.cwd(), name);
  const checks = assertionResults.map((test) => ({
    kind: "test",
    outcome: outcomeOf(test.status),
    name: `${suite}: ${path}: ${test.fullName}`,
  }));
  // A file that could not be loaded, or whose hooks failed, has no failed test to show for it.
  const failedAsAWhole = status === "failed" && !checks.some(({ outcome }) => outcome === "failed");
  if (failedAsAWhole) {
    const why = message?.split("\n")[0] || "the file failed as a whole";
    checks.push({ kind: "test", outcome: "failed", name: `${suite}: ${path}: ${why}` });
  }
  return checks;
}

function outcomeOf(status) {
  if (status === "passed" || status === "failed") return status;
  return "skipped";
}
