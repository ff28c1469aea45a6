import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { LambdaDefinition } from "../../../../infra/local/lambda/lambda-definition.ts";
import {
  createLambdaPool,
  type LambdaPool,
  type LambdaPoolOptions,
} from "../../../../infra/local/lambda/lambda-pool.ts";

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "surefoot-lambda-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes the text of a module that exports `handler`, as plain JavaScript. */
export function bundleOf(source: string): string {
  const file = join(temporaryFolder(), "index.mjs");
  writeFileSync(file, source);
  return file;
}

export function functionOf(source: string, over: Partial<LambdaDefinition> = {}): LambdaDefinition {
  return { name: "step", bundleFile: bundleOf(source), environment: {}, timeoutMs: 20_000, memoryMb: 256, ...over };
}

export function poolWith(definition: LambdaDefinition, options: LambdaPoolOptions = {}): LambdaPool {
  const pool = createLambdaPool(options);
  onTestFinished(() => pool.stop());
  pool.register(definition);
  return pool;
}

/** Resolves with the first line a function prints that `matches`. */
export function lineWatcher(): {
  onLog: (name: string, line: string) => void;
  line: (matches: RegExp) => Promise<string>;
} {
  const seen: string[] = [];
  const watchers: { matches: RegExp; resolve: (line: string) => void }[] = [];
  return {
    onLog: (_name, line) => {
      seen.push(line);
      for (const { matches, resolve } of watchers) if (matches.test(line)) resolve(line);
    },
    line: (matches) => {
      const known = seen.find((line) => matches.test(line));
      return known === undefined
        ? new Promise((resolve) => watchers.push({ matches, resolve }))
        : Promise.resolve(known);
    },
  };
}

/** Prints `running`, then never answers. */
export const hangs = `export const handler = async () => { console.log("running"); setInterval(() => {}, 1000); await new Promise(() => {}); };`;

/** The report that a state machine sees as the failure's cause. */
export function causeOf(result: unknown): { errorType: string; errorMessage: string; trace?: string[] } {
  return JSON.parse((result as { cause: string }).cause);
}
