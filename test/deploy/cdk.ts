import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { credentials, type Emulator, region } from "./emulator.ts";
import { repository } from "./find-python.ts";

const command = join(repository, "node_modules/aws-cdk/bin/cdk");

export interface CdkResult {
  readonly code: number | null;
  readonly output: string;
}

export interface Cdk {
  /** One command as a user types it, in the repository. */
  run(args: readonly string[]): Promise<CdkResult>;
  /** The same, and a failure is an error that carries what was printed. @returns what was printed. */
  succeed(args: readonly string[]): Promise<string>;
  /** Prepares the account, which takes no app. */
  bootstrap(environment: string): Promise<string>;
  /** Ends what still runs. */
  stop(): Promise<void>;
}

/** The CDK command line with the emulator for AWS, and nothing of the user's own settings. */
export function cdkFor(emulator: Emulator): Cdk {
  const elsewhere = join(emulator.folder, "without-an-app");
  mkdirSync(elsewhere, { recursive: true });
  const env = {
    PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
    HOME: emulator.folder,
    TMPDIR: emulator.folder,
    AWS_ENDPOINT_URL: emulator.endpoint,
    AWS_CA_BUNDLE: emulator.certificate.file,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    CI: "true",
    NO_COLOR: "1",
    CDK_DISABLE_VERSION_CHECK: "true",
    CDK_DISABLE_CLI_TELEMETRY: "true",
  };
  const running = new Set<ChildProcess>();

  async function run(args: readonly string[], cwd = repository): Promise<CdkResult> {
    // A group of its own: the app that it starts goes with it.
    const child = spawn(process.execPath, [command, "--no-notices", ...args], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    running.add(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
    }
    const [code] = (await once(child, "close")) as [number | null];
    running.delete(child);
    return { code, output };
  }
  async function succeed(args: readonly string[], cwd?: string): Promise<string> {
    const { code, output } = await run(args, cwd);
    if (code === 0) return output;
    throw new Error(
      `cdk ${args[0]} ended with ${code}. It printed:\n${output}\nThe emulator's last lines:\n${emulator.lastLines()}`,
    );
  }
  return {
    run,
    succeed,
    bootstrap: (environment) => succeed(["bootstrap", environment], elsewhere),
    async stop() {
      const alive = [...running].filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
      await Promise.all(
        alive.map(async (child) => {
          const closed = once(child, "close");
          if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
          await closed;
        }),
      );
    },
  };
}
