import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export type LambdaEntry =
  | "step"
  | "wait"
  | "settle"
  | "start"
  | "read"
  | "decide"
  | "control"
  | "review"
  | "sweep"
  | "deliver"
  | "release"
  | "agents";

/** Path of a Lambda's entry module: `.ts` in the repository, `.js` in a build. */
export function lambdaEntry(name: LambdaEntry): string {
  const source = fileURLToPath(new URL(`../lambdas/entry/${name}.ts`, import.meta.url));
  return existsSync(source) ? source : source.replace(/\.ts$/u, ".js");
}
