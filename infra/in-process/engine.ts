import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { seededRandom } from "../local/seeded-random.ts";
import type { Agent } from "../../shared/agent/agent.ts";
import type { CompileSettings } from "../../shared/compile/compile-settings.ts";
import { compileSettingsDefault } from "../../shared/compile/compile-settings.ts";
import type { ModelPort } from "../../shared/model/model-port.ts";
import type { SweepReport } from "../../shared/sweep/sweep.ts";
import { deliveryQueueSettings } from "../../shared/sqs/delivery-queue-settings.ts";
import type { InvokeResult } from "../local/lambda/lambda-failure.ts";
import { StepFunctionsService } from "../local/step-functions/step-functions-service.ts";
import { Deployment } from "./deployment.ts";
import { Drive, type Reached } from "./drive.ts";
import { FifoQueue } from "./fifo-queue.ts";
import { Functions } from "./functions.ts";
import type { AgentGate } from "./gated-agent.ts";
import { FaultPlan, type FaultRule } from "./injected-fault.ts";
import { Journal } from "./journal.ts";
import { memoryDynamo } from "./memory-dynamo.ts";
import { memoryPayloadStore } from "./memory-payload-store.ts";
import type { Platform } from "./process-ports.ts";
import { Recorder } from "./recorder.ts";
import { Scheduler } from "./scheduler.ts";
import type { MakeStandIn } from "./stand-in.ts";
import { type Stored, storedOf } from "./stored.ts";
import { SweepRhythm } from "./sweep-rhythm.ts";
import { Trace } from "./trace.ts";
import { VirtualClock } from "./virtual-clock.ts";

export interface EngineOptions {
  readonly agents: readonly Agent[];
  readonly models: ModelPort;
  /** In the place of tools' own code, by tool name. @default the tools' own code runs */
  readonly standIns?: Readonly<Record<string, MakeStandIn>>;
  /** In the place of nodes' own preconditions, by node name. */
  readonly preconditions?: AgentGate["preconditions"];
  /** Who is next, of those that wait at a port. @default 1 */
  readonly seed?: number;
  /** When the world begins, epoch milliseconds. @default 2026-09-02T12:00:00Z */
  readonly startMs?: number;
  readonly settings?: Partial<CompileSettings>;
  /** Between two sweeps; 0 for none. @default five minutes, as on AWS */
  readonly sweepEveryMs?: number;
  readonly faults?: readonly FaultRule[];
  /** Real milliseconds for a tool's own code before it counts as waiting for time to pass. @default 1,000 */
  readonly foreignMsMax?: number;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

const startMsDefault = Date.UTC(2026, 8, 2, 12, 0, 0);
const sweepEveryMsDefault = 5 * 60_000;
const foreignMsMaxDefault = 1_000;
/** Longer than a lease, a start's grace and a lost queue message: what a sweep has not taken up by then it never will. */
const quietMs = 15 * 60_000;

/**
 * Agents in one process, on time that passes only when nothing else can: the handlers and states that run on AWS, over their own adapters.
 * Every port call is let through one at a time in the seed's order, so that a seed is a run, and any call may be hit by a fault.
 */
export class Engine {
  readonly clock: VirtualClock;
  readonly trace = new Trace();
  readonly recorder = new Recorder();
  readonly journal: Journal;
  readonly queue: FifoQueue;
  readonly stepFunctions: StepFunctionsService;
  /** What is stored, looked at straight: no port call, and not in the trace. */
  readonly stored: Stored;
  readonly startMs: number;
  readonly #faults = new FaultPlan();
  readonly #functions: Functions;
  readonly #scheduler: Scheduler;
  readonly #deployment: Deployment;
  readonly #drive: Drive;
  readonly #rhythm: SweepRhythm;
  readonly #quietMs: number;
  readonly #businessKeys = new Map<string, string>();
  #lastDeedMs: number;

  static async start(options: EngineOptions): Promise<Engine> {
    return new Engine(options, await memoryDynamo());
  }

  private constructor(options: EngineOptions, dynamo: DynamoDBDocumentClient) {
    const { seed = 1, startMs = startMsDefault } = options;
    const settings: CompileSettings = { ...compileSettingsDefault, ...options.settings };
    this.startMs = startMs;
    this.#lastDeedMs = startMs;
    this.clock = new VirtualClock(startMs);
    for (const rule of options.faults ?? []) this.#faults.add(rule);
    this.journal = new Journal((key) => this.#businessKeys.get(key));
    this.#functions = new Functions(this.clock);
    this.#scheduler = new Scheduler({
      random: seededRandom(seed),
      clock: this.clock,
      startMs,
      trace: this.trace,
      faults: this.#faults,
      foreignMsMax: options.foreignMsMax ?? foreignMsMaxDefault,
      onAdmitted: ({ actor }) => this.#noteDeed(actor),
    });
    this.stepFunctions = new StepFunctionsService({
      invokeLambda: (arn, payload) => this.#invokeFrom(`states of ${executionOf(payload)}`, arn, payload),
      timers: this.clock,
      random: seededRandom(seed + 1),
      newId: counting("id-"),
    });
    const delivery = deliveryQueueSettings(settings.stepTimeoutSeconds);
    this.queue = new FifoQueue({
      clock: this.clock,
      settings: delivery,
      deliver: (event) => this.#invokeFrom("queue", "deliver", event),
    });
    const payloads = memoryPayloadStore();
    const platform: Platform = {
      scheduler: this.#scheduler,
      dynamo,
      payloads,
      stepFunctions: this.stepFunctions,
      functions: this.#functions,
      queue: this.queue,
      models: options.models,
      ids: { next: counting("n", 11) },
      recorder: this.recorder,
      onStored: (input) => this.#noteStored(input),
    };
    const outside = { journal: this.journal, nowMs: () => this.clock.now(), startMs };
    const standIns = new Map(Object.entries(options.standIns ?? {}).map(([tool, make]) => [tool, make(tool, outside)]));
    this.#deployment = new Deployment({
      platform,
      settings,
      delivery,
      gate: { scheduler: this.#scheduler, outside, standIns, preconditions: options.preconditions ?? {} },
    });
    for (const agent of options.agents) this.#deployment.deploy(agent);
    this.stored = storedOf(dynamo, payloads);
    this.#quietMs = quietMs + settings.stepTimeoutSeconds * 1_000 + this.#deployment.settleMsMax;
    this.#rhythm = new SweepRhythm({
      clock: this.clock,
      everyMs: options.sweepEveryMs ?? sweepEveryMsDefault,
      sweep: async () => reportOf(await this.#invokeFrom("schedule", "sweep", {})),
    });
    this.#drive = new Drive({
      clock: this.clock,
      scheduler: this.#scheduler,
      open: () => this.#functions.open,
      idle: () => this.#isIdle(options.sweepEveryMs !== 0),
    });
  }

  /** Milliseconds since the world began. */
  get elapsedMs(): number {
    return this.clock.now() - this.startMs;
  }

  /** Faults that have not struck, or not as often as they should. */
  get unspentFaults(): readonly FaultRule[] {
    return this.#faults.unspent;
  }

  inject(...rules: readonly FaultRule[]): void {
    for (const rule of rules) this.#faults.add(rule);
  }

  /** Deploys an agent, or its next version: new runs start on it, open ones stay where they are. */
  deploy(agent: Agent): void {
    this.#deployment.deploy(agent);
  }

  /** A request to the HTTP API, by the code that answers it on AWS. @returns 502 where the function behind it came to nothing. */
  async request(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const result = await this.invoke(this.#deployment.functionFor(method, path), { method, path, body });
    return result.ok ? (result.payload as ApiAnswer) : { status: 502, body: { error: result } };
  }

  /** Begins an invocation. It goes on whenever the world does: await it beside something that keeps the world going. */
  begin(functionName: string, event: unknown): Promise<InvokeResult> {
    return this.#functions.start(functionName, event).result;
  }

  /** Invokes a function and keeps the world going until its caller has an answer. */
  async invoke(functionName: string, event: unknown): Promise<InvokeResult> {
    let result: InvokeResult | undefined;
    void this.begin(functionName, event).then((answer) => {
      result = answer;
    });
    await this.#drive.until({ met: () => result !== undefined });
    return result ?? { ok: false, error: "Lambda.Unknown", cause: "the world stood still before it answered" };
  }

  /** A sweep now, beside the schedule's. @returns undefined where it did not come to its end. */
  async sweep(): Promise<SweepReport | undefined> {
    return reportOf(await this.invoke("sweep", {}));
  }

  /** Keeps the world going until nothing happens by itself any more. Waits for people, and their limits, do not count. */
  async runUntilIdle(): Promise<void> {
    await this.#drive.until({});
  }

  /** Lets time pass, with everything that is due in it: limits and sweeps too. */
  async skip(ms: number): Promise<void> {
    await this.#drive.until({ untilMs: this.clock.now() + ms });
  }

  /** Keeps the world going until `met` is so. It is asked whenever nothing can go on before time does. */
  until(met: () => Promise<boolean>): Promise<Reached> {
    return this.#drive.until({ metAtRest: met });
  }

  #invokeFrom(name: string, arn: string, event: unknown): Promise<InvokeResult> {
    return this.#functions.invoke({ name }, arn, event, this.#scheduler);
  }

  /** Whoever only looks does nothing. */
  #noteDeed(actor: string): void {
    const looks = actor === "schedule" || this.#functions.open.some(({ name, looks }) => looks && name === actor);
    if (looks) return;
    this.#lastDeedMs = this.clock.now();
    this.#rhythm.disturb();
  }

  #noteStored(input: object): void {
    const { Item } = input as { readonly Item?: Readonly<Record<string, unknown>> };
    const { operation_id: id, business_key: key } = Item ?? {};
    if (typeof id === "string" && typeof key === "string") this.#businessKeys.set(id, key);
  }

  async #isIdle(sweeps: boolean): Promise<boolean> {
    if (!sweeps || !(await this.stored.anythingOpen())) return true;
    // Twice, since the first may have seen what another was just about to change.
    return this.#rhythm.fruitless >= 2 && this.clock.now() >= this.#lastDeedMs + this.#quietMs;
  }
}

const executionOf = (payload: unknown): string => {
  const { execution } = payload as { readonly execution?: unknown };
  return typeof execution === "string" ? execution : "an execution";
};

const reportOf = (result: InvokeResult): SweepReport | undefined =>
  result.ok ? (result.payload as SweepReport) : undefined;

/** Never the same twice, and the same in every world. */
function counting(prefix: string, digits = 6): () => string {
  let count = 0;
  return () => `${prefix}${String(++count).padStart(digits, "0")}`;
}
