import type { Agent } from "../../shared/index.ts";
import { nodeOf } from "../../shared/agent/agent.ts";
import { type Line, lineOf, linesOf, WAIT } from "../../shared/compile/lines.ts";
import { wireError } from "../../shared/compile/wire-errors.ts";
import { WireFault } from "../../shared/faults/wire-fault.ts";
import type { WakeResult } from "../../shared/ports/executions.ts";
import type { LineExit } from "../../shared/run/line-entry.ts";
import { END } from "../../shared/runlog/step.ts";
import { diedOf } from "./life.ts";

/** Moves of one execution before it is taken to go round in circles. */
const movesMax = 12;

export interface EngineTasks {
  readonly step: (event: unknown) => Promise<unknown>;
  readonly wait: (event: unknown) => Promise<unknown>;
  readonly settle: (event: unknown) => Promise<unknown>;
}

interface Execution {
  readonly name: string;
  readonly runId: string;
  position: string;
  /** The node that is entered next, or the line whose answer is awaited. */
  at: string;
  token: string | undefined;
  running: boolean;
}

/** A state machine reduced to its routes, resolution and delivery waits included. It moves only when `settle` is called. */
export class Engine {
  readonly #agent: Agent;
  readonly #lines: readonly Line[];
  readonly #tasks: EngineTasks;
  readonly #executions = new Map<string, Execution>();
  /** What each task token was told; `open` while somebody waits on it. */
  readonly tokens = new Map<string, string>();
  /** Moves of all executions so far. */
  moves = 0;

  constructor(agent: Agent, tasks: EngineTasks) {
    this.#agent = agent;
    this.#lines = linesOf(agent);
    this.#tasks = tasks;
  }

  readonly executions = {
    start: async (_arn: string, name: string, input: Readonly<Record<string, string>>): Promise<void> => {
      if (this.#executions.has(name)) return;
      const { run_id: runId = "", position = "", next: at = "" } = input;
      this.#executions.set(name, { name, runId, position, at, token: undefined, running: true });
    },
  };

  readonly waker = {
    succeed: (token: string): Promise<WakeResult> => this.#tell(token, "succeeded"),
    fail: (token: string, error: string): Promise<WakeResult> => this.#tell(token, error),
  };

  readonly executionStates = {
    isRunning: async (_arn: string, name: string): Promise<boolean> => this.#executions.get(name)?.running ?? false,
  };

  names = (): readonly string[] => [...this.#executions.keys()];

  /** The execution is gone, and with it whatever waited. */
  kill(name: string): void {
    const execution = this.#executions.get(name);
    if (!execution) throw new Error(`expected one of ${this.names().join(", ")}, found ${name}`);
    this.#end(execution);
  }

  /** Every execution goes on until it waits, has to come back later, or has ended. @returns how each stands. */
  async settle(): Promise<Readonly<Record<string, string>>> {
    const stands: Record<string, string> = {};
    for (const execution of this.#executions.values()) {
      stands[execution.name] = execution.running ? await this.#drive(execution) : "ended";
    }
    return stands;
  }

  async #tell(token: string, told: string): Promise<WakeResult> {
    if (this.tokens.get(token) !== "open") return "gone";
    this.tokens.set(token, told);
    return "woken";
  }

  #end(execution: Execution): string {
    execution.running = false;
    if (execution.token !== undefined && this.tokens.get(execution.token) === "open")
      this.tokens.set(execution.token, "gone");
    return "ended";
  }

  async #drive(execution: Execution): Promise<string> {
    for (let moves = 0; moves < movesMax; moves++) {
      this.moves++;
      if (execution.token !== undefined) {
        const told = this.tokens.get(execution.token) ?? "";
        if (told === "open") return "waits";
        execution.token = undefined;
        const stands = await this.#told(execution, told);
        if (stands !== undefined) return stands;
      }
      if (execution.at === END) return this.#end(execution);
      const line = lineOf(this.#lines, execution.at);
      if (!line) throw new Error(`no line has ${execution.at}`);
      const stands = await this.#run(execution, line);
      if (stands !== undefined) return stands;
    }
    throw new Error(`execution ${execution.name} goes round in circles`);
  }

  async #run(execution: Execution, line: Line): Promise<string | undefined> {
    const { runId, position } = execution;
    try {
      const exit = (await this.#tasks.step({
        run_id: runId,
        position,
        line: line.name,
        execution: execution.name,
      })) as LineExit;
      execution.position = exit.position;
      if (exit.next === WAIT) return await this.#wait(execution, line);
      execution.at = exit.next;
      return undefined;
    } catch (error) {
      if (diedOf(error)) return "died";
      if (!(error instanceof WireFault)) throw error;
      if (error.name === wireError.stale) return this.#end(execution);
      if ([wireError.later, wireError.crashed, wireError.passing].includes(error.name as never)) return "later";
      const parks = line.nodes.some((node) =>
        [wireError.unknown(node), wireError.handedOut(node)].includes(error.name),
      );
      if (parks) return this.#wait(execution, line);
      if (line.nodes.some((node) => error.name === wireError.retryable(node))) return "later";
      return this.#settled(execution, error.name);
    }
  }

  /** Enters the state that waits. */
  async #wait(execution: Execution, line: Line): Promise<string | undefined> {
    const token = `token-${execution.name}-${this.moves}`;
    this.tokens.set(token, "open");
    execution.token = token;
    execution.at = line.nodes.at(-1) ?? "";
    try {
      await this.#tasks.wait({
        action: "ask",
        run_id: execution.runId,
        line: line.name,
        execution: execution.name,
        task_token: token,
      });
    } catch (error) {
      if (error instanceof WireFault && error.name === wireError.stale) return this.#end(execution);
      throw error;
    }
    return undefined;
  }

  async #told(execution: Execution, told: string): Promise<string | undefined> {
    const node = nodeOf(this.#agent, execution.at);
    if (told === "gone" || told === wireError.stale) return this.#end(execution);
    if (told === wireError.undeliverable) return this.#settled(execution, told);
    if (node.kind !== "approval") return undefined;
    const next = told === wireError.rejected ? node.onReject : told === wireError.expired ? node.onExpire : node.next;
    // An answer that ends the run comes back into its line, which closes the run.
    if (next !== END) execution.at = next;
    return undefined;
  }

  async #settled(execution: Execution, error: string): Promise<string> {
    await this.#tasks.settle({ run_id: execution.runId, execution: execution.name, error }).catch((fault: unknown) => {
      if (!(fault instanceof WireFault) || fault.name !== wireError.stale) throw fault;
    });
    return this.#end(execution);
  }
}
