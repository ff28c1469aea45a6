import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";
import { type ApiClient, apiClient } from "../../../infra/cli/api-client.ts";
import { CliError } from "../../../infra/cli/cli-error.ts";
import { firstMessage, type ForkedModule, forkModule } from "../../../infra/local/child-process.ts";

/** Bundles, tables and the last runner's lock, on a machine that is busy with other suites. */
const readyMsMax = 120_000;
const programFile = fileURLToPath(new URL("./process-runner.ts", import.meta.url));
const Ready = z.object({ url: z.string(), resumed: z.array(z.string()) });

export interface LambdaChild {
  readonly pid: number;
  readonly functionName: string;
}

/** One runner after the other on the same folder, each a process of its own that is ended with -9 only. */
export class RunnerLives {
  readonly #arguments: readonly string[];
  #life: ForkedModule | undefined;
  #api: ApiClient | undefined;
  #crash: string | undefined;

  constructor(folder: string, agentEnvironment: Readonly<Record<string, string>>) {
    this.#arguments = [folder, JSON.stringify(agentEnvironment)];
  }

  /** Of the life that answers. @throws CliError between two lives, as a caller finds it; Error where a life ended that nobody killed. */
  get api(): ApiClient {
    if (this.#crash !== undefined)
      throw new Error(`a runner ended that nobody had killed. It said last:\n${this.#crash}`);
    if (!this.#api) throw new CliError(3, "unreachable", "no runner is up now");
    return this.#api;
  }

  /** @returns the runs that it took up again. */
  async start(): Promise<readonly string[]> {
    const life = forkModule(programFile, { args: this.#arguments });
    this.#life = life;
    void life.exited.then(() => {
      if (this.#life === life) this.#crash = life.outputTail();
    });
    const { url, resumed } = await firstMessage(life, (message) => Ready.safeParse(message).data, readyMsMax);
    this.#api = apiClient(url);
    return resumed;
  }

  /** `kill -9`, which takes its database and its functions with it. @throws Error unless it lived until then. */
  async kill(): Promise<void> {
    const life = this.#life;
    this.#life = undefined;
    this.#api = undefined;
    await life?.kill9();
    const signal = life && (await life.exited).signal;
    if (signal !== "SIGKILL")
      throw new Error(`expected a runner that lives until it is killed, found ${signal ?? "none"}`);
  }

  /** The functions' processes that live now. Only the operating system is asked: a runner need not know that it is drilled. */
  async lambdas(): Promise<readonly LambdaChild[]> {
    const { stdout } = await promisify(execFile)("ps", ["-A", "-ww", "-o", "pid=,ppid=,stat=,args="]);
    return stdout.split("\n").flatMap((line) => {
      const found = /^\s*(\d+)\s+(\d+)\s+(\S+)\s.*\/lambda-bootstrap\S*\s+\S+\s+(\S+)/u.exec(line);
      const [, pid, parent, state = "Z", functionName = ""] = found ?? [];
      // A zombie is dead already.
      const lives = found && Number(parent) === this.#life?.pid && !state.startsWith("Z");
      return lives ? [{ pid: Number(pid), functionName }] : [];
    });
  }
}
