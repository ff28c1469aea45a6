import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** Where a running local runner can be reached: written beside its data, read by every other command. */
const RunnerFile = z.object({ url: z.url(), pid: z.number().int() });
export type RunnerFile = z.infer<typeof RunnerFile>;

const pathOf = (folder: string): string => join(folder, "runner.json");

export function writeRunnerFile(folder: string, runner: RunnerFile): void {
  const draft = `${pathOf(folder)}.${runner.pid}`;
  writeFileSync(draft, JSON.stringify(runner));
  renameSync(draft, pathOf(folder));
}

export function readRunnerFile(folder: string): RunnerFile | undefined {
  try {
    return RunnerFile.safeParse(JSON.parse(readFileSync(pathOf(folder), "utf8"))).data;
  } catch {
    return undefined;
  }
}

export const removeRunnerFile = (folder: string): void => rmSync(pathOf(folder), { force: true });
