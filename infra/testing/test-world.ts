import type { Agent } from "../../shared/agent/agent.ts";
import type { DurationMs } from "../../shared/agent/duration.ts";
import type { MetricName } from "../../shared/metrics/metrics.ts";
import type { SweepReport } from "../../shared/sweep/sweep.ts";
import type { Engine } from "../in-process/engine.ts";
import type { InjectedFault } from "../in-process/injected-fault.ts";
import type { Effect, ToolRequest } from "../in-process/journal.ts";
import type { LogLine } from "../in-process/recorder.ts";
import type { Where } from "./at.ts";
import type { ModelAsked, ScriptedModels } from "./scripted-models.ts";
import { TestRun } from "./test-run.ts";

/** Faults that need no further word. */
type PlainFault = Exclude<InjectedFault, { readonly ms: number }>["kind"];

export interface StartOptions {
  /** The business task. @default a new one each time */
  readonly workflowId?: string;
  /** Whether a new run may follow one of the same workflow that has ended. @default false */
  readonly allowNewRun?: boolean;
}

/** An agent and everything around it, in one process, on time that passes only when it is let. */
export class TestWorld {
  /** The world underneath: its trace, its clock, its queue. */
  readonly engine: Engine;
  readonly #agent: Agent;
  readonly #models: ScriptedModels;
  #started = 0;

  constructor(agent: Agent, engine: Engine, models: ScriptedModels) {
    this.#agent = agent;
    this.engine = engine;
    this.#models = models;
  }

  /** Starts a run, as `POST /runs` does. @throws Error with the API's words where the input does not fit. */
  async start(input: unknown, { workflowId, allowNewRun = false }: StartOptions = {}): Promise<TestRun> {
    const { status, body } = await this.engine.request("POST", "/runs", {
      agent: this.#agent.name,
      workflow_id: workflowId ?? `task-${++this.#started}`,
      input,
      allow_new_run: allowNewRun,
    });
    const { run_id, error } = body as { readonly run_id?: string; readonly error?: { readonly message?: string } };
    if (run_id !== undefined) return new TestRun(run_id, this.engine);
    throw new Error(`the run was not started (${status}): ${error?.message ?? JSON.stringify(body)}`);
  }

  /** What the world's clock says, ISO 8601. */
  get now(): string {
    return new Date(this.engine.clock.wallMs()).toISOString();
  }

  /** Lets time pass, with everything that is due in it. */
  skip(time: DurationMs): Promise<void> {
    return this.engine.skip(time);
  }

  /** Keeps the world going until nothing happens by itself any more. */
  runUntilIdle(): Promise<void> {
    return this.engine.runUntilIdle();
  }

  /** A sweep now, beside the one that comes round every five minutes. */
  sweep(): Promise<SweepReport | undefined> {
    return this.engine.sweep();
  }

  /** Has a fault strike the first call that fits: `world.fault(at.tool("create_refund"), "lost_ack")`. */
  fault(
    where: Where,
    fault: PlainFault | InjectedFault,
    which: { readonly nth?: number; readonly times?: number } = {},
  ): void {
    this.engine.inject({ at: where, fault: typeof fault === "string" ? { kind: fault } : fault, ...which });
  }

  /** Deploys the agent's next version: new runs start on it, open ones stay where they are. */
  deploy(agent: Agent): void {
    this.engine.deploy(agent);
  }

  /** What happened outside: of a tool, of one business key. Counted at the other side, not by the agent. */
  effects(tool?: string, businessKey?: string): readonly Effect[] {
    return this.engine.journal.effects(tool, businessKey);
  }

  /** Every request that reached a tool's code or its double, lookups included. */
  requests(tool?: string): readonly ToolRequest[] {
    return this.engine.journal.requests(tool);
  }

  /** Every question that a model was asked. */
  asked(node?: string): readonly ModelAsked[] {
    return this.#models.asked.filter((asked) => node === undefined || asked.node === node);
  }

  /** The sum of a metric over all its dimensions. */
  metric(name: MetricName): number {
    return this.engine.recorder.total(name);
  }

  get logs(): readonly LogLine[] {
    return this.engine.recorder.lines;
  }

  /** Every port call so far, one a line: what to read when a test fails, and the same for the same seed. */
  trace(): string {
    return this.engine.trace.text();
  }
}
