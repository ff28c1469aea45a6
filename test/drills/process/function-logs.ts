import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Functions that only look on: what they say does not mean that a run went further. */
const onlookers: readonly string[] = ["read", "sweep"];

/** What the functions of all lives of a runner wrote down, and the runner about them. */
export class FunctionLogs {
  readonly #folder: string;

  constructor(runnerFolder: string) {
    this.#folder = join(runnerFolder, "logs");
  }

  /** Lines of the functions that take a run further. */
  said(): number {
    return this.#texts((name) => !onlookers.includes(name)).flatMap((text) => text.match(/^\{/gmu) ?? []).length;
  }

  /** Invocations that a runner saw die, while it lived itself. The rest died while they loaded or were idle. */
  killedAtWork(): number {
    const texts = this.#texts(() => true);
    return texts.flatMap((text) => text.match(/Runtime exited with error: signal: killed/gu) ?? []).length;
  }

  #texts(of: (name: string) => boolean): readonly string[] {
    if (!existsSync(this.#folder)) return [];
    return readdirSync(this.#folder)
      .filter((file) => of(file.replace(/\.log$/u, "")))
      .map((file) => readFileSync(join(this.#folder, file), "utf8"));
  }
}
