import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const checkout = fileURLToPath(new URL("../../..", import.meta.url));
/** The command as the repository runs it. */
const fromSource = ["--import", "tsx", "infra/cli/surefoot.ts"];

export interface CommandOptions {
  /** Standard input. @default empty */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What node runs, and where. @default the sources of this repository */
  readonly program?: readonly string[];
  readonly cwd?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The last line of standard output. Throws where it is no JSON. */
  json(): any; // eslint-disable-line @typescript-eslint/no-explicit-any -- checked by the expectations
}

const start = (args: readonly string[], options: CommandOptions) =>
  spawn(process.execPath, [...(options.program ?? fromSource), ...args], {
    cwd: options.cwd ?? checkout,
    // Nothing of the developer's own settings, and a user whose name the tests know.
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], USER: "tester", NO_COLOR: "1", ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  });

/** Runs `surefoot` with these arguments until it ends. */
export async function surefoot(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
  const child = start(args, options);
  child.stdin.end(options.input ?? "");
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: code as number | null, stdout, stderr, json: () => JSON.parse(lastLine(stdout)) };
}

const lastLine = (output: string): string => output.trimEnd().split("\n").at(-1) ?? "";

export interface Serving {
  /** What it printed as its result: `url`, `pid`, `resumed`, and the other side's addresses. */
  readonly told: Readonly<Record<string, unknown>> & { readonly url: string; readonly pid: number };
  readonly stderr: () => string;
  /** Asks it to end. @returns its exit code. */
  stop(): Promise<number | null>;
}

/** Runs `surefoot serve --json` and resolves once it has told where it is. @throws Error with its words when it ends first. */
export async function serving(args: readonly string[], options: CommandOptions = {}): Promise<Serving> {
  const child = start(["serve", "--json", "--port", "0", ...args], options);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  const closed = once(child, "close");
  const line = new Promise<string>((resolve) => {
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
      if (stdout.includes("\n")) resolve(stdout.slice(0, stdout.indexOf("\n")));
    });
  });
  const ended = closed.then(([code]) => {
    throw new Error(`surefoot serve ended with ${String(code)}: ${stderr}`);
  });
  ended.catch(() => undefined); // it also ends when it is asked to
  const told = JSON.parse(await Promise.race([line, ended])) as Serving["told"]; // checked by the tests that look at it
  return {
    told,
    stderr: () => stderr,
    async stop() {
      child.kill("SIGTERM");
      const [code] = await closed;
      return code as number | null;
    },
  };
}
