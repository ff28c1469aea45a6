import type { Command } from "commander";
import { CliError } from "./cli-error.ts";
import { table } from "./output.ts";
import { sessionOf, wholeNumber } from "./session.ts";

const budgetSecondsMax = 24 * 60 * 60;
const seedMax = 2 ** 31 - 1;
const combinedMax = 1_000_000;
/** Cases between two lines of progress. */
const progressEvery = 100;
/** Broken cases that are printed: the report has them all. */
const shownMax = 10;

interface Options {
  readonly seed: string;
  readonly budget: string;
  readonly combined: string;
  readonly report: string;
  readonly case?: string;
}

/** What proves a user's own agent. Loaded when asked for: the other commands start faster without it. */
export function addDrillCommand(program: Command): void {
  program
    .command("drill")
    .description("run an agent under every fault at every port call, and judge it by what reached the outside")
    .argument("<agent>", "refund-agent, or a module with an agent or a drill script as default export")
    .option("--seed <number>", "the order of what happens at once, and the random cases", "1")
    .option("--budget <seconds>", "begin no further case after this time", "120")
    .option("--combined <number>", "random cases with two or three faults, at most", "200")
    .option("--report <folder>", "where the report goes, as Markdown and HTML", ".surefoot/drills")
    .option("--case <strikes>", "play one case and print its trace, e.g. 17:crash_after+23:throttle")
    .addHelpText("after", "\nExit codes: 0 every promise kept, 1 a promise broken, 2 nothing could be drilled.")
    .action(async (agent: string, options: Options, command: Command) => {
      const { output } = sessionOf(command);
      const seed = wholeNumber("--seed", options.seed, 0, seedMax);
      const budgetMs = wholeNumber("--budget", options.budget, 1, budgetSecondsMax) * 1_000;
      const most = wholeNumber("--combined", options.combined, 0, combinedMax);
      const script = await loaded(agent);
      if (options.case !== undefined) return playOne(script, seed, options.case, output);

      const [{ runDrill }, { reproduceCommand, writeReport }] = await Promise.all([
        import("../drill/run-drill.ts"),
        import("../drill/write-report.ts"),
      ]);
      const untilMs = Date.now() + budgetMs;
      const report = await runDrill(script, {
        seed,
        combinedMax: most,
        mayGoOn: () => Date.now() < untilMs,
        onProgress: (done, planned, broken) => {
          if (done % progressEvery === 0) output.progress(`${done} of ${planned} cases, ${broken} broken`);
        },
      }).catch((error: unknown) => {
        throw new CliError(2, "not_drillable", error instanceof Error ? error.message : String(error));
      });
      const drill = `surefoot drill ${agent}`;
      const files = writeReport(report, options.report, drill);
      const violations = report.violations.map((one) => ({ ...one, reproduce: reproduceCommand(drill, one) }));
      output.result({ ...report, violations, report: files }, () =>
        [
          table(
            ["tool", "capability", "crash point", "effects", "ledger", "run"],
            report.matrix.map((row) => [row.tool, row.capability, row.point, String(row.effects), row.ledger, row.run]),
          ),
          ...violations
            .slice(0, shownMax)
            .flatMap((one) => [
              ...one.violations.map(({ what }) => `BROKEN ${one.case}: ${what}`),
              `  ${one.reproduce}`,
            ]),
          `${report.cases} cases, ${violations.length} broken, ${report.skipped} left out by the budget, seed ${seed}`,
          `report: ${files.html}`,
        ].join("\n"),
      );
      process.exitCode = violations.length === 0 ? 0 : 1;
    });
}

async function loaded(agent: string) {
  const { loadScript } = await import("../drill/load-script.ts");
  return loadScript(agent).catch((error: unknown) => {
    throw new CliError(2, "no_such_drill", error instanceof Error ? error.message : String(error));
  });
}

/** One case again, with its trace: what a broken promise is looked at with. */
async function playOne(
  script: Awaited<ReturnType<typeof loaded>>,
  seed: number,
  text: string,
  output: ReturnType<typeof sessionOf>["output"],
): Promise<void> {
  const [{ completeScript }, { playCase }, { judgeCase }, { parseStrikes }] = await Promise.all([
    import("../drill/complete-script.ts"),
    import("../drill/play-case.ts"),
    import("../drill/judge-case.ts"),
    import("../drill/strike.ts"),
  ]);
  const told = (error: unknown): never => {
    throw new CliError(2, "bad_case", error instanceof Error ? error.message : String(error));
  };
  let played;
  let violations;
  try {
    const complete = completeScript(script);
    const strikes = parseStrikes(text);
    const clean = await playCase(complete, seed, []);
    played = strikes.length === 0 ? clean : await playCase(complete, seed, strikes);
    violations = judgeCase(complete.agent, played, clean);
  } catch (error) {
    return told(error);
  }
  const { traceText } = played;
  output.result({ case: text, seed, violations, trace: traceText.split("\n") }, () =>
    [
      traceText,
      ...violations.map(({ invariant, what }) => `BROKEN ${invariant}: ${what}`),
      `case ${text}, seed ${seed}: ${violations.length === 0 ? "every promise kept" : `${violations.length} broken`}`,
    ].join("\n"),
  );
  process.exitCode = violations.length === 0 ? 0 : 1;
}
