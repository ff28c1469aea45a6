import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFailed, onTestFinished, test } from "vitest";
import { type RefundWorld, startRefundWorld } from "../../../infra/local/refund-world.ts";
import { seededRandom } from "../../../infra/local/seeded-random.ts";
import { FunctionLogs } from "./function-logs.ts";
import { helpRun } from "./help-run.ts";
import { goesNoFurther, judgeAtEnd, judgeAtRest } from "./judge-runs.ts";
import { killAtRandom } from "./kill-at-random.ts";
import { RefundCrowd } from "./refund-crowd.ts";
import { RunnerLives } from "./runner-lives.ts";
import { until } from "./until.ts";

/** Two quiet cores need three minutes; a machine that is busy with other suites needs several. What hangs is told sooner, by `until`. */
const patienceMs = 20 * 60_000;
const atOnce = 20;
const kills = 100;
const runnerKills = 6;

/** `PROCESS_DRILL_SEED=<number>` repeats the choices; what they meet is up to the machine. */
const seed = Number(process.env["PROCESS_DRILL_SEED"] ?? Date.now() % 2 ** 31);

const folder = mkdtempSync(join(tmpdir(), "surefoot-process-drill-"));
let world: RefundWorld;
let lives: RunnerLives;

beforeAll(async () => {
  world = await startRefundWorld();
  lives = new RunnerLives(folder, world.environment);
}, patienceMs);

afterAll(async () => {
  await lives?.kill().catch(() => undefined);
  await world?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test(
  "a hundred random kills of functions and of the runner lose none of twenty runs at once, refund once each, and leave no mail that nobody answers for",
  async () => {
    onTestFailed(() => console.info(`PROCESS_DRILL_SEED=${seed}`));
    const logs = new FunctionLogs(folder);
    const crowd = new RefundCrowd(lives, world);
    await lives.start();

    let killing = true;
    let reviewing = true;
    const reviewed = crowd.approveWhatIsAsked(() => reviewing);
    reviewed.catch(() => undefined); // told below
    onTestFinished(() => void (reviewing = false));
    const killedThem = killAtRandom(lives, logs, { kills, runnerKills, random: seededRandom(seed) });
    const [killed] = await Promise.all([
      killedThem.finally(() => (killing = false)),
      crowd.keepBusy(atOnce, () => killing),
    ]);
    expect(killed).toHaveLength(kills);
    expect(killed.filter((victim) => victim === "runner")).toHaveLength(runnerKills);

    const atRest = await until(
      "no run goes further by itself",
      () => crowd.runs(),
      (runs) => runs.every(goesNoFurther),
    );
    await judgeAtRest(atRest, crowd.tickets, world);

    const mended = await until(
      "every run has succeeded, once an operator helped",
      async () => {
        const runs = await crowd.runs();
        for (const run of runs) await helpRun(run, world, lives.api);
        return runs;
      },
      (runs) => runs.every(({ status }) => status === "SUCCEEDED"),
    );
    reviewing = false;
    await reviewed;
    await judgeAtRest(mended, crowd.tickets, world);
    await judgeAtEnd(crowd.tickets, world);

    const parked = atRest.filter(({ status }) => status === "PARKED");
    const unknown = atRest.flatMap(({ operations }) => operations).filter(({ status }) => status === "UNKNOWN");
    console.info(
      [
        `seed ${seed}: ${kills} kills (${tally(killed)}), ${logs.killedAtWork()} in the middle of an invocation`,
        `${mended.length} runs, ${atOnce} at once`,
        `${parked.length} parked (${tally(parked.map(({ failure }) => failure?.error.code ?? "no failure"))})`,
        `${unknown.length} UNKNOWN`,
        `every refund and every mail counted once at the other side`,
      ].join("; "),
    );
  },
  patienceMs,
);

function tally(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${name} ${count}`).join(", ") || "none";
}
