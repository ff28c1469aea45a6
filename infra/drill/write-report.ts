import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { html, raw } from "hono/html";
import { crashPoints } from "./crash-point.ts";
import { invariants } from "./judge-case.ts";
import type { BrokenCase, DrillReport, MatrixRow } from "./run-drill.ts";

/** Where a report lies. */
export interface ReportFiles {
  readonly markdown: string;
  readonly html: string;
}

/** Writes `drill-<agent>.md` and `.html`: for a pull request, and for a person. `command` is how the drill was asked for, without case and seed. */
export function writeReport(report: DrillReport, folder: string, command: string): ReportFiles {
  mkdirSync(folder, { recursive: true });
  const files = {
    markdown: join(folder, `drill-${report.agent}.md`),
    html: join(folder, `drill-${report.agent}.html`),
  };
  writeFileSync(files.markdown, markdownOf(report, command));
  writeFileSync(files.html, `${htmlOf(report, command)}\n`);
  return files;
}

/** The one line that shows a broken case again. */
export const reproduceCommand = (command: string, { case: name, seed }: BrokenCase): string =>
  `${command} --seed ${seed} --case ${name}`;

const summaryOf = ({ cases, counts, calls, skipped, helped, seed, violations }: DrillReport): readonly string[] => [
  `${violations.length === 0 ? "PASSED" : "FAILED"}: ${cases} cases, ${violations.length} with a broken promise, seed ${seed}`,
  `a run without faults makes ${calls} port calls; ${counts.single} cases with one fault at one of them, ${counts.rivals} with a second execution or a sweep begun beside it, ${counts.combined} with two or three at once`,
  skipped === 0
    ? "every planned case was played"
    : `${skipped} planned cases were left out: the budget was spent. A larger --budget plays them`,
  `in ${helped} cases an operator had to look (UNKNOWN, or PARKED with its reason), as promised`,
];

const columns = ["tool", "capability", "delivery", "crash point", "effects", "ledger", "run", "case"] as const;
const cellsOf = (row: MatrixRow): readonly string[] => [
  row.tool,
  row.capability,
  row.delivery,
  `${row.point} ${crashPoints[row.point]}`,
  String(row.effects),
  row.ledger,
  row.run,
  row.case,
];
const sorted = (matrix: readonly MatrixRow[]): readonly MatrixRow[] =>
  [...matrix].sort((a, b) => `${a.tool} ${a.point}`.localeCompare(`${b.tool} ${b.point}`));

function markdownOf(report: DrillReport, command: string): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const broken = report.violations.flatMap((one) => [
    `### ${one.case}`,
    ...one.violations.map(({ invariant, what }) => `- **${invariants[invariant]}**: ${what}`),
    "",
    `\`${reproduceCommand(command, one)}\``,
    "",
  ]);
  return [
    `# Drill of ${report.agent} version ${report.version}`,
    "",
    ...summaryOf(report).map((text) => `- ${text}`),
    ...(report.invented.length > 0 ? [`- made up from schemas: ${report.invented.join("; ")}`] : []),
    "",
    "## A process dies: what is known before anybody helps",
    "",
    line(columns),
    line(columns.map(() => "---")),
    ...sorted(report.matrix).map((row) => line(cellsOf(row))),
    "",
    "## Broken promises",
    "",
    ...(broken.length > 0 ? broken : ["None.", ""]),
    "## What every case is held to",
    "",
    ...Object.entries(invariants).map(([name, promise]) => `- \`${name}\`: ${promise}`),
    "",
  ].join("\n");
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{border:1px solid #767676;padding:.3rem .5rem;text-align:left}
th{background:#f0f0f0}code{background:#f0f0f0;padding:.1rem .3rem}.failed{color:#a00000}.passed{color:#0a5c0a}`;

function htmlOf(report: DrillReport, command: string): string {
  const [verdict, ...facts] = summaryOf(report);
  // Nothing in it is a promise, so it is text at once.
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <title>Drill of ${report.agent}</title>
        <style>
          ${raw(style)}
        </style>
      </head>
      <body>
        <main>
          <h1>Drill of ${report.agent} version ${report.version}</h1>
          <p class="${report.violations.length === 0 ? "passed" : "failed"}"><strong>${verdict}</strong></p>
          <ul>
            ${facts.map((fact) => html`<li>${fact}</li>`)}
          </ul>
          <h2>A process dies: what is known before anybody helps</h2>
          <table>
            <thead>
              <tr>
                ${columns.map((column) => html`<th scope="col">${column}</th>`)}
              </tr>
            </thead>
            <tbody>
              ${sorted(report.matrix).map(
                (row) =>
                  html`<tr>
                    ${cellsOf(row).map((cell) => html`<td>${cell}</td>`)}
                  </tr>`,
              )}
            </tbody>
          </table>
          <h2>Broken promises</h2>
          ${
            report.violations.length === 0
              ? html`<p>None.</p>`
              : report.violations.map(
                  (one) =>
                    html`<h3>${one.case}</h3>
                      <ul>
                        ${one.violations.map(({ invariant, what }) => html`<li><strong>${invariants[invariant]}</strong>: ${what}</li>`)}
                      </ul>
                      <p><code>${reproduceCommand(command, one)}</code></p>`,
                )
          }
          <h2>What every case is held to</h2>
          <ul>
            ${Object.entries(invariants).map(([name, promise]) => html`<li><code>${name}</code>: ${promise}</li>`)}
          </ul>
        </main>
      </body>
    </html>`;
  return page as string;
}
