import { fork, type ChildProcess } from "node:child_process";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

/** A child that has not said it is ready by then is broken: a cold tsx start takes about one second, a busy two-core machine a few. */
const READY_TIMEOUT_MS = 30_000;
/** SIGTERM, then this long, then SIGKILL: nothing here has work worth waiting for. */
const STOP_GRACE_MS = 2_000;
/** Enough of a dying child's last words to show the stack trace. */
const OUTPUT_TAIL_CHARACTERS = 4_000;

export interface ForkOptions {
  readonly args?: readonly string[];
  /** Added to this process's environment. @default {} */
  readonly env?: Readonly<Record<string, string>>;
  /** Modules the child will import by name later, so that a TypeScript one gets its loader. @default [] */
  readonly imports?: readonly string[];
  readonly onOutput?: (text: string, stream: "stdout" | "stderr") => void;
}

export interface ForkedModule {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Settles when the child is gone, however it went; never rejects. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** What the child printed last, for error messages. */
  outputTail(): string;
  /** Asks it to end, then insists. Resolves once it is gone. */
  stop(): Promise<void>;
  /** `kill -9`: no handler runs in the child. Resolves once it is gone. */
  kill9(): Promise<void>;
}

/** Path of the module `name` (without extension) beside the calling module: `.ts` where sources run as they are,
 *  `.js` in a build. tsc rewrites import specifiers, but never a path in a string. */
export function siblingModule(callerUrl: string, name: string): string {
  const extension = callerUrl.endsWith(".ts") ? ".ts" : ".js";
  return fileURLToPath(new URL(`./${name}${extension}`, callerUrl));
}

/** True where the module at `moduleUrl` is what node was asked to run, and false where something imported it. */
export function isProgram(moduleUrl: string): boolean {
  const started = process.argv[1];
  if (started === undefined) return false;
  try {
    return pathToFileURL(realpathSync(started)).href === moduleUrl;
  } catch {
    return false; // the test runner's own entry is not always a file
  }
}

/** Forks the module at `modulePath` (absolute, `.ts` or `.js`) with an IPC channel. `execArgv` is always given: an inherited
 *  one would start the test runner's or the debugger's loader in the child. */
export function forkModule(modulePath: string, options: ForkOptions = {}): ForkedModule {
  const needsTypeScript = [modulePath, ...(options.imports ?? [])].some((path) => /\.[cm]?ts$/.test(path));
  const child = fork(modulePath, [...(options.args ?? [])], {
    execArgv: needsTypeScript ? ["--import", tsxLoaderUrl()] : [],
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });

  let tail = "";
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.setEncoding("utf8").on("data", (text: string) => {
      tail = (tail + text).slice(-OUTPUT_TAIL_CHARACTERS);
      options.onOutput?.(text, stream);
    });
  }

  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", () => {
      if (child.pid === undefined) resolve({ code: null, signal: null }); // never started: no exit event will follow
    });
  });
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    const insist = setTimeout(() => child.kill("SIGKILL"), STOP_GRACE_MS);
    await exited;
    clearTimeout(insist);
  };

  return {
    child,
    pid: child.pid ?? -1,
    exited,
    outputTail: () => tail,
    stop: () => end("SIGTERM"),
    kill9: () => end("SIGKILL"),
  };
}

/** The first message for which `read` gives a value.
 *  @throws Error when the child exits or stays silent for `timeoutMs` (it is then killed); the message carries its last output. */
export async function firstMessage<Message>(
  forked: ForkedModule,
  read: (message: unknown) => Message | undefined,
  timeoutMs: number = READY_TIMEOUT_MS,
): Promise<Message> {
  const { child } = forked;
  const cleanups: (() => void)[] = [];
  const message = new Promise<Message>((resolve) => {
    const onMessage = (raw: unknown) => {
      const value = read(raw);
      if (value !== undefined) resolve(value);
    };
    child.on("message", onMessage);
    cleanups.push(() => child.off("message", onMessage));
  });
  const silence = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(brokenChild(forked, `said nothing within ${timeoutMs} ms`)), timeoutMs);
    cleanups.push(() => clearTimeout(timer));
  });
  const death = forked.exited.then(({ code, signal }) => {
    throw brokenChild(forked, `exited first (code ${code}, signal ${signal})`);
  });
  death.catch(() => undefined); // it also ends some day after it was ready

  try {
    return await Promise.race([message, silence, death]);
  } catch (fault) {
    await forked.kill9();
    throw fault;
  } finally {
    for (const cleanup of cleanups) cleanup();
  }
}

/** In a child: end with the parent, even one that was killed, so that no orphan holds a port. */
export function exitWithParent(): void {
  if (process.send === undefined) return; // started by hand from a shell
  process.once("disconnect", () => process.exit(0));
}

function brokenChild(forked: ForkedModule, what: string): Error {
  const path = forked.child.spawnargs.find((argument) => /\.[cm]?[jt]s$/.test(argument)) ?? "the child";
  return new Error(
    `expected a ready message from ${path}, but it ${what}. Its last output:\n${forked.outputTail() || "(none)"}`,
  );
}

/** By absolute URL: `--import tsx` would be looked up from the working directory, which may be anywhere. */
function tsxLoaderUrl(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
}
