import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiClient } from "../../infra/cli/api-client.ts";
import { type LocalRunner, startLocalRunner } from "../../infra/local/local-runner.ts";
import { effectsFileName } from "./agents/released.ts";
import { actionsOf, agentModule } from "./stage.ts";

/** The local runner, stopped and started with another release of the agent each time, on the same folder. */
export interface Deployments {
  readonly folder: string;
  /** Of the runner that runs now. */
  readonly api: ReturnType<typeof actionsOf>;
  /** Which runs the newest runner took up again. */
  readonly resumed: readonly string[];
  deploy(version: number, migrates?: boolean): Promise<void>;
  /** One line for each, in order. */
  effects(): readonly string[];
  stop(): Promise<void>;
}

export function prepareDeployments(): Deployments {
  const folder = mkdtempSync(join(tmpdir(), "surefoot-deployments-"));
  const effectsFile = join(folder, "effects.txt");
  mkdirSync(join(folder, "modules"));
  let runner: LocalRunner | undefined;
  return {
    folder,
    get api() {
      if (!runner) throw new Error("nothing is deployed");
      return actionsOf(apiClient(runner.url));
    },
    get resumed() {
      return runner?.resumed ?? [];
    },
    async deploy(version, migrates = false) {
      await runner?.stop();
      // A module as a user has it; where zod lies, only the shared part knows.
      const modulePath = join(folder, "modules", `v${version}.ts`);
      const factory = JSON.stringify(agentModule("released"));
      writeFileSync(
        modulePath,
        `import { released } from ${factory};\nexport default released(${version}, ${migrates});\n`,
      );
      runner = await startLocalRunner({
        folder: join(folder, "runner"),
        agents: [{ modulePath, environment: { [effectsFileName]: effectsFile } }],
      });
    },
    effects: () => (existsSync(effectsFile) ? readFileSync(effectsFile, "utf8").trimEnd().split("\n") : []),
    async stop() {
      await runner?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
