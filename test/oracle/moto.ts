import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";
import { z } from "zod";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const pythons = [here("../../.venv/oracle/bin/python"), "python3"];
const check = "import moto, moto.server, sys; sys.exit(not moto.__version__.startswith('5.2.'))";
/** Python imports botocore's models at its start: some seconds where others load the machine. */
const readyTimeoutMs = 60_000;

export interface Moto {
  /** For the SDK's `endpoint`. */
  readonly url: string;
  /** The pauses that Retry asked for in that execution so far: state → seconds, in order. */
  pausesOf(execution: string): Readonly<Record<string, readonly number[]>>;
  /** Lets the TimeoutSeconds of a Task run out. */
  runOut(execution: string, state: string): void;
  stop(): Promise<void>;
}

export interface MotoOptions {
  /** Where the Lambda calls of its executions go: a port on this machine. */
  readonly lambdaPort: number;
  /** The test directs time: retries do not pause, timeouts come by `runOut`, waits pass so many times as fast. @default stock time */
  readonly directed?: number;
}

const Line = z.union([
  z.object({ port: z.number() }),
  z.object({ execution: z.string(), state: z.string(), retry_after_seconds: z.number() }),
]);

function findPython(): string | undefined {
  return pythons.find((python) => {
    const mayExist = python === "python3" || existsSync(python);
    return mayExist && spawnSync(python, ["-c", check]).status === 0;
  });
}

/** A suite that needs moto. Without it: failed in CI, skipped with the reason anywhere else. */
export function describeWithMoto(title: string, suite: (start: (options: MotoOptions) => Promise<Moto>) => void): void {
  const python = findPython();
  if (python !== undefined) {
    describe(title, () => suite((options) => startMoto(python, options)));
    return;
  }
  const why = "moto 5.2 was found neither in python3 nor in .venv/oracle: run `bash .ci/install-oracle.sh`";
  describe(title, () => {
    test("an interpreter that was not written here is installed", (context) => {
      if (process.env["CI"] === "true") throw new Error(why);
      console.warn(`Skipped: ${why}`); // the reporter shows no reason of its own
      context.skip(why);
    });
  });
}

async function startMoto(python: string, { lambdaPort, directed }: MotoOptions): Promise<Moto> {
  const child = spawn(
    python,
    [
      here("moto_sfn.py"),
      ...["--lambda-port", String(lambdaPort)],
      ...(directed === undefined ? [] : ["--directed", String(directed)]),
    ],
    // An open standard input keeps it alive: it ends with this process, however that ends.
    { stdio: ["pipe", "pipe", "pipe"] },
  );
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors = (errors + text).slice(-4_000)));

  const pauses = new Map<string, Record<string, number[]>>();
  const exited = once(child, "exit");
  const port = new Promise<number>((resolve, reject) => {
    const fail = (what: string): void => reject(new Error(`expected moto's port, but it ${what}:\n${errors}`));
    const silence = setTimeout(() => fail(`said nothing within ${readyTimeoutMs} ms`), readyTimeoutMs);
    child.once("error", (error) => fail(`could not be started (${error.message})`));
    child.once("exit", () => fail("ended"));
    createInterface({ input: child.stdout }).on("line", (text) => {
      const line = Line.parse(JSON.parse(text));
      if ("port" in line) {
        clearTimeout(silence);
        return resolve(line.port);
      }
      const ofExecution = pauses.get(line.execution) ?? {};
      pauses.set(line.execution, ofExecution);
      (ofExecution[line.state] ??= []).push(line.retry_after_seconds);
    });
  });
  return {
    url: `http://127.0.0.1:${await port}`,
    pausesOf: (execution) => pauses.get(execution) ?? {},
    runOut: (execution, state) => void child.stdin.write(`${JSON.stringify({ execution, state })}\n`),
    async stop() {
      child.kill("SIGKILL"); // nothing in it is worth a goodbye
      await exited;
    },
  };
}
