import { setTimeout as pause } from "node:timers/promises";
import type { FunctionLogs } from "./function-logs.ts";
import type { RunnerLives } from "./runner-lives.ts";
import { until } from "./until.ts";

/** Things that functions say between two kills: some come before one is loaded, some in the middle of its work, on a machine of any speed. */
const saidMax = 4;
/** And a moment more, so that a kill does not always come right after something was said. */
const momentMsMax = 200;

export interface KillPlan {
  readonly kills: number;
  /** Of the runner, among them; the last kill is one. */
  readonly runnerKills: number;
  /** From 0 to below 1: the same numbers are the same choices. What they meet is up to the machine. */
  readonly random: () => number;
}

/**
 * Kills with -9, one after another, each after something happened since the last.
 * Precondition: runs are under way all the time, or it waits for nothing.
 * @returns the names of the killed, each of whom lived.
 */
export async function killAtRandom(
  lives: RunnerLives,
  logs: FunctionLogs,
  { kills, runnerKills, random }: KillPlan,
): Promise<readonly string[]> {
  const below = (limit: number) => Math.floor(random() * limit);
  const runnerTurns = new Set([kills - 1]);
  while (runnerTurns.size < runnerKills) runnerTurns.add(below(kills));
  const killed: string[] = [];
  while (killed.length < kills) {
    const wanted = logs.said() + below(saidMax);
    await until(
      `functions have said ${wanted} things, for kill ${killed.length + 1}`,
      () => logs.said(),
      (said) => said >= wanted,
    );
    await pause(below(momentMsMax));
    if (runnerTurns.has(killed.length)) {
      await lives.kill();
      await lives.start();
      killed.push("runner");
    } else {
      killed.push(await killFunction(lives, below));
    }
  }
  return killed;
}

async function killFunction(lives: RunnerLives, below: (limit: number) => number): Promise<string> {
  const alive = await until(
    "a function lives",
    () => lives.lambdas(),
    (found) => found.length > 0,
  );
  const victim = alive[below(alive.length)];
  if (!victim) throw new Error("expected a process to kill");
  process.kill(victim.pid, "SIGKILL");
  await until(
    `process ${victim.pid} of ${victim.functionName} is gone`,
    () => lives.lambdas(),
    (left) => left.every(({ pid }) => pid !== victim.pid),
  );
  return victim.functionName;
}
