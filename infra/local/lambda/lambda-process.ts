import { fork, type ChildProcess } from "node:child_process";
import { dirname } from "node:path";
import type { FunctionReference } from "./function-name.ts";
import { bootstrapArguments, processEnvironment, type LambdaDefinition } from "./lambda-definition.ts";
import { exited, functionFailed, timedOut, type InvokeResult } from "./lambda-failure.ts";
import type { FaultReport, InvokeMessage, ProcessMessage } from "./lambda-protocol.ts";
import { readLines } from "./log-lines.ts";
import { nodeScript } from "./node-script.ts";

/** Lambda allows ten seconds to load; a laptop whose two cores are busy with a test suite needs more, and a hang is found all the same. */
const initMsMax = 30_000;

type Answer = Extract<ProcessMessage, { kind: "success" | "fault" }>;
interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface LambdaProcessPorts {
  readonly now: () => number;
  readonly onLine: (line: string) => void;
}

/** One process of a function. It runs one invocation at a time and is reused until it ends. */
export class LambdaProcess {
  /** Settles when the process is gone and everything it said has been read. */
  readonly ended: Promise<Ending>;
  busy = false;
  readonly #child: ChildProcess;
  readonly #definition: LambdaDefinition;
  readonly #now: () => number;
  readonly #loaded: Promise<void>;
  #onAnswer: ((answer: Answer) => void) | undefined;
  #lastWords: FaultReport | undefined;
  #killedAfterMs: number | undefined;

  constructor(definition: LambdaDefinition, reference: FunctionReference, ports: LambdaProcessPorts) {
    this.#definition = definition;
    this.#now = ports.now;
    this.#child = fork(nodeScript(import.meta.url, "lambda-bootstrap"), bootstrapArguments(definition, reference), {
      cwd: dirname(definition.bundleFile),
      env: processEnvironment(definition, reference),
      // Given, because an inherited one would start the test runner's or the debugger's loader in every function.
      execArgv: [`--max-old-space-size=${definition.memoryMb}`],
      serialization: "advanced", // measured: a payload of 6 MB crosses in half the time, as its text is not escaped again
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) if (stream) readLines(stream, ports.onLine);

    this.ended = ending(this.#child, (fault) => (this.#lastWords ??= fault));
    this.#loaded = new Promise((resolve) => {
      this.#child.on("message", (message) => {
        this.#receive(message as ProcessMessage, resolve); // our own script holds the other end
      });
    });
  }

  /** -1 where the process could not be started. */
  get pid(): number {
    return this.#child.pid ?? -1;
  }

  /** False from the first sign that it is ending, before the last of it is read. */
  get usable(): boolean {
    return this.#child.connected && this.#lastWords === undefined && !this.#child.killed;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Runs `event` (JSON text). Resolves only when the invocation can do no more: answered, or its process is gone. */
  async run(requestId: string, event: string): Promise<InvokeResult> {
    const loading = this.#killAfter(initMsMax);
    const early = await Promise.race([this.#loaded, this.ended]);
    clearTimeout(loading);
    if (early) return this.#afterEnd(requestId, early);

    const { timeoutMs } = this.#definition;
    const invocation: InvokeMessage = { event, deadlineEpochMs: this.#now() + timeoutMs, requestId };
    const answered = new Promise<Answer>((resolve) => (this.#onAnswer = resolve));
    const deadline = this.#killAfter(timeoutMs);
    this.#child.send(invocation, () => undefined); // refused only by a process that is ending, and `ended` tells
    const outcome = await Promise.race([answered, this.ended]);
    clearTimeout(deadline);
    this.#onAnswer = undefined;

    if (!("kind" in outcome)) return this.#afterEnd(requestId, outcome);
    return outcome.kind === "success"
      ? { ok: true, payload: JSON.parse(outcome.payload) }
      : functionFailed(outcome.fault);
  }

  #receive(message: ProcessMessage, onLoaded: () => void): void {
    switch (message.kind) {
      case "ready":
        return onLoaded();
      case "lastWords":
        this.#lastWords = message.fault;
        return;
      case "success":
      case "fault":
        // An answer that crosses the deadline's kill comes too late: the process is dying, and the caller is told of the timeout.
        if (this.#killedAfterMs === undefined) this.#onAnswer?.(message);
        return;
      default:
        return message satisfies never;
    }
  }

  #killAfter(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#killedAfterMs = ms;
      this.kill();
    }, ms);
  }

  #afterEnd(requestId: string, { code, signal }: Ending): InvokeResult {
    if (this.#killedAfterMs !== undefined) return timedOut(requestId, this.#killedAfterMs);
    return this.#lastWords ? functionFailed(this.#lastWords) : exited(requestId, code, signal);
  }
}

/** `exit` alone may come before the last message is read; the channel's end comes after it. */
function ending(child: ChildProcess, onSpawnFault: (fault: FaultReport) => void): Promise<Ending> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      if (child.connected) child.once("disconnect", () => resolve({ code, signal }));
      else setImmediate(() => resolve({ code, signal }));
    });
    child.on("error", (fault) => {
      if (child.pid !== undefined) return; // about a message to a process that is ending
      onSpawnFault({ errorType: "Runtime.StartError", errorMessage: fault.message, trace: [] });
      resolve({ code: null, signal: null }); // never started: no exit event will follow
    });
  });
}
