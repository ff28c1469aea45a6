import { randomUUID } from "node:crypto";
import type { FunctionReference } from "./function-name.ts";
import type { LambdaDefinition } from "./lambda-definition.ts";
import { refused, type InvokeResult } from "./lambda-failure.ts";
import { LambdaProcess, type LambdaProcessPorts } from "./lambda-process.ts";

/** Lambda allows an account 1,000 at once; beyond that it throttles, and so do we. */
const waitingMax = 1_000;
/** Lambda keeps an idle environment for minutes; each one here holds about 50 MB of somebody's laptop. */
const idleMsMax = 5 * 60_000;

/** One registered function and its processes: reused when idle, added when all are busy, up to `concurrencyMax`. */
export class LambdaFunction {
  readonly #definition: LambdaDefinition;
  readonly #reference: FunctionReference;
  readonly #ports: LambdaProcessPorts;
  readonly #concurrencyMax: number;
  readonly #processes = new Set<LambdaProcess>();
  readonly #waiting: ((process: LambdaProcess | undefined) => void)[] = [];
  readonly #idleTimers = new WeakMap<LambdaProcess, NodeJS.Timeout>();
  #retired = false;

  constructor(
    definition: LambdaDefinition,
    reference: FunctionReference,
    ports: LambdaProcessPorts,
    concurrencyMax: number,
  ) {
    this.#definition = definition;
    this.#reference = reference;
    this.#ports = ports;
    this.#concurrencyMax = concurrencyMax;
  }

  /** @param event JSON text */
  async invoke(event: string): Promise<InvokeResult> {
    if (this.#waiting.length >= waitingMax) return refused("TooManyRequestsException", "Rate Exceeded.");
    const process = await this.#acquire();
    if (!process)
      return refused("ServiceException", "The local Lambda runtime was stopped while the invocation waited.");
    const requestId = randomUUID();
    const result = await process.run(requestId, event);
    if (!result.ok && !process.usable) this.#ports.onLine(`${result.error}: ${result.cause}`);
    this.#release(process);
    return result;
  }

  processes(): { pid: number; busy: boolean }[] {
    return [...this.#processes].map(({ pid, busy }) => ({ pid, busy }));
  }

  /** A newer registration took the name: what runs or waits is finished with this one, then its processes end. */
  retire(): void {
    this.#retired = true;
    for (const process of this.#processes) if (!process.busy) process.kill();
  }

  /** Ends all processes at once; what ran fails with `Runtime.ExitError`, as if they had been killed. */
  async stop(): Promise<void> {
    for (const resolve of this.#waiting.splice(0)) resolve(undefined);
    const processes = [...this.#processes];
    for (const process of processes) process.kill();
    await Promise.all(processes.map(({ ended }) => ended));
  }

  /** Marks the process busy before it is handed out, so that nobody else takes it meanwhile. */
  async #acquire(): Promise<LambdaProcess | undefined> {
    // The one used last is the warmest, and lets the others grow old enough to be ended.
    const idle = [...this.#processes].filter(({ busy, usable }) => !busy && usable).at(-1);
    if (idle) return this.#occupy(idle);
    if (this.#processes.size < this.#concurrencyMax) return this.#occupy(this.#start());
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #occupy(process: LambdaProcess): LambdaProcess {
    process.busy = true;
    clearTimeout(this.#idleTimers.get(process));
    this.#processes.delete(process);
    this.#processes.add(process); // the set's order is the order of use
    return process;
  }

  #start(): LambdaProcess {
    const process = new LambdaProcess(this.#definition, this.#reference, this.#ports);
    this.#processes.add(process);
    void process.ended.then(() => {
      this.#processes.delete(process);
      const room = this.#processes.size < this.#concurrencyMax;
      if (room && this.#waiting.length > 0) this.#waiting.shift()?.(this.#occupy(this.#start()));
    });
    return process;
  }

  #release(process: LambdaProcess): void {
    if (!process.usable) return process.kill(); // `ended` makes room for whoever waits
    const next = this.#waiting.shift();
    if (next) return next(this.#occupy(process));
    process.busy = false;
    if (this.#retired) process.kill();
    else this.#endWhenOld(process);
  }

  #endWhenOld(process: LambdaProcess): void {
    this.#idleTimers.set(process, setTimeout(() => process.kill(), idleMsMax).unref());
  }
}
