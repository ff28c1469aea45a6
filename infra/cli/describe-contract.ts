import { relative } from "node:path";
import { type ContractComparison } from "../../shared/contract/compare-contracts.ts";
import { adviceInWords, hurtInWords } from "../../shared/contract/contract-words.ts";
import { type CheckedRun, type ContractCheck, isHurt } from "../contract/check-contract.ts";

/** What a check found, for the developer who changed something: what, whom it hurts, what to do. */
export function describeCheck(check: ContractCheck): string {
  return [
    headline(check),
    ...check.comparisons.filter(({ verdict }) => verdict !== "same").flatMap(describeComparison),
    ...runsOf("recorded runs", check.recorded),
    ...runsOf("open runs", check.live),
    ...check.problems.map((problem) => `FAIL ${problem}`),
  ].join("\n");
}

function headline({ agent, version, file, released, comparisons }: ContractCheck): string {
  const where = relative(process.cwd(), file);
  const own = comparisons.find(({ from }) => from === version);
  if (!released) return `${agent} version ${version} is not released yet: surefoot contract release writes ${where}`;
  if (own?.verdict === "same") return `${agent} version ${version} is what was released (${where})`;
  return `${agent} version ${version} differs from what was released (${where}): ${own?.verdict ?? "unknown"}`;
}

function describeComparison(comparison: ContractComparison): readonly string[] {
  const { agent, from, to, verdict, nodes } = comparison;
  const lines = nodes.flatMap(({ node, what, hurts }) => [
    `  ${node ?? agent}${what.length > 0 ? ` ${what.join("; ")}` : ""}`,
    ...hurts.map((hurt) => `    ${hurtInWords(hurt, hurt.comesTo)}`),
  ]);
  const against = from === to ? `version ${from} as released` : `version ${from}`;
  return [
    "",
    `against ${against}: ${verdict}`,
    ...lines,
    ...adviceInWords(comparison).map((advice) => `  → ${advice}`),
  ];
}

function runsOf(what: string, runs: readonly CheckedRun[] | undefined): readonly string[] {
  if (!runs) return [];
  const hurt = runs.filter(isHurt);
  const count = `${what}: ${runs.length} looked at, ${hurt.length} would not simply go on under this definition`;
  return [
    "",
    count,
    ...hurt.map(
      ({ run, version, at, verdict, hurts }) =>
        `  ${run} (version ${version}, at ${at}): ${verdict}${hurts[0] ? `, ${hurts[0].because}` : ""}`,
    ),
  ];
}
