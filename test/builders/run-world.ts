import { join } from "node:path";
import type { Agent } from "../../shared/index.ts";
import { nodeOf } from "../../shared/agent/agent.ts";
import type { ApprovalNode } from "../../shared/agent/node.ts";
import { type ApprovalOutcome, Binding } from "../../shared/approval/approval.ts";
import { type Line, lineOf, linesOf, TAKE_OVER, WAIT } from "../../shared/compile/lines.ts";
import { sentBackError, sentBackTargets } from "../../shared/compile/sent-back.ts";
import { wireError } from "../../shared/compile/wire-errors.ts";
import { WireFault } from "../../shared/faults/wire-fault.ts";
import { dynamoLedgerStore } from "../../shared/ledger/dynamo-ledger-store.ts";
import { createLedger } from "../../shared/ledger/ledger.ts";
import type { ModelAnswer, ModelRequest } from "../../shared/model/model-port.ts";
import { folderPayloadStore } from "../../shared/payloads/folder-payload-store.ts";
import type { WakeResult } from "../../shared/ports/executions.ts";
import { type Answered, answerApproval } from "../../shared/run/answer-waiter.ts";
import type { NodePorts } from "../../shared/run/ports.ts";
import type { LineExit } from "../../shared/run/line-entry.ts";
import { runLine } from "../../shared/run/run-line.ts";
import { settleRun } from "../../shared/run/settle-run.ts";
import { startRun } from "../../shared/run/start-run.ts";
import { takeOverRun } from "../../shared/run/take-over.ts";
import { registerWait } from "../../shared/run/wait-run.ts";
import { dynamoRunLog } from "../../shared/runlog/dynamo-run-log.ts";
import type { Position } from "../../shared/runlog/position.ts";
import type { RunHistory } from "../../shared/runlog/run-log.ts";
import { END } from "../../shared/runlog/step.ts";
import type { Waiter } from "../../shared/waiter/waiter.ts";
import { countingIds } from "./counting-ids.ts";
import { Downstream } from "./downstream.ts";
import { type CrashPoint, diedOf, Life } from "./life.ts";
import type { LocalTables } from "./local-tables.ts";
import { ManualClock } from "./manual-clock.ts";
import { type AgentParts, orderAgent, type OrderAgentOptions, partsOf } from "./order-agent.ts";
import { RecordingLogger } from "./recording-logger.ts";
import { recordingQueue } from "./recording-queue.ts";
import { RecordingMetrics } from "./recording-metrics.ts";

export const invocationMs = 120_000;
const takingOver: Line = { name: TAKE_OVER, nodes: [] };
/** Longest a run of these tests takes, in Tasks and waits. */
const movesMax = 40;

export interface RunWorldOptions extends OrderAgentOptions {
  readonly amountCents?: number;
  /** Another agent, e.g. a later version of the order agent. */
  readonly agent?: (parts: AgentParts) => Agent;
}

export type RunWorld = Awaited<ReturnType<typeof runWorld>>;

/** A run of a small agent on real tables, with an outside world that counts and a state machine reduced to its routes. */
export async function runWorld(tables: LocalTables, options: RunWorldOptions = {}) {
  const clock = new ManualClock();
  const ids = countingIds();
  const metrics = new RecordingMetrics();
  const logger = new RecordingLogger();
  const downstream = new Downstream(clock, 24 * 3_600_000);
  const reads: string[] = [];
  const modelRequests: ModelRequest[] = [];
  const modelScript: ((request: ModelRequest) => Promise<unknown>)[] = [];
  const executions: { readonly name: string; readonly input: Readonly<Record<string, string>> }[] = [];
  /** Tokens that somebody waits on, and what they were told: `open`, `succeeded`, or an error. */
  const tokens = new Map<string, string>();
  let life = new Life();

  const agent = (options.agent ?? ((parts: AgentParts) => orderAgent(parts, options)))(
    partsOf(() => life, downstream, reads),
  );
  const lines = linesOf(agent);
  const log = dynamoRunLog({ client: tables.proxied(), table: "runs", clock, ids });
  const store = dynamoLedgerStore(tables.proxied(), "ledger");
  const payloads = folderPayloadStore(join(tables.folder(), "payloads"));
  const models = {
    async answer(request: ModelRequest): Promise<ModelAnswer> {
      modelRequests.push(request);
      const script = modelScript.shift();
      const output = script
        ? await script(request)
        : { amountCents: (JSON.parse(request.data) as { amountCents: number }).amountCents };
      return { output, usage: { input_tokens: 10, output_tokens: 5 } };
    },
  };
  const wake = async (token: string, told: string): Promise<WakeResult> => {
    if (tokens.get(token) !== "open") return "gone";
    tokens.set(token, told);
    return "woken";
  };
  const waker = {
    succeed: (token: string) => wake(token, "succeeded"),
    fail: (token: string, error: string) => wake(token, error),
  };
  const starter = {
    start: async (_arn: string, name: string, input: Readonly<Record<string, string>>) => {
      if (!executions.some((execution) => execution.name === name)) executions.push({ name, input });
    },
  };
  const ledger = createLedger({ store, clock, ids });
  const ports = { log, payloads, clock, ids, metrics, logger, waker, executions: starter, ledger };
  const nodePorts = (own: Life): NodePorts => ({
    ...ports,
    log: own.port("log", log),
    payloads: own.port("payloads", payloads),
    ledger: own.port("ledger", ledger),
    models: own.port("models", models),
    queue: recordingQueue(),
    endProcess: () => undefined,
  });

  const workflowId = `ticket-${ids.next()}`;
  const input = { order: `ORD-${workflowId}`, amountCents: options.amountCents ?? 4_200 };
  const start = () =>
    startRun(
      agent,
      "arn:aws:states:us-east-1:000000000000:stateMachine:order-agent",
      { workflowId, input, allowNewRun: false },
      ports,
    );
  const { run } = await start();
  let runId = run.run_id;

  const lineNamed = (name: string, of: Agent): Line => {
    const own = linesOf(of);
    // What another version has under this name, or, where it names its line otherwise, the line that it enters by the same node.
    const line = own.find((candidate) => candidate.name === name) ?? lines.find((candidate) => candidate.name === name);
    if (!line) throw new Error(`expected one of ${own.map((candidate) => candidate.name).join(", ")}, found ${name}`);
    return line;
  };

  const world = {
    agent,
    lines,
    clock,
    ids,
    metrics,
    logger,
    downstream,
    reads,
    modelRequests,
    executions,
    tokens,
    log,
    store,
    payloads,
    ports,
    run,
    /** The run that everything here is about. */
    get runId() {
      return runId;
    },
    /** From now on that is another one: a fork, which has the same outside. */
    follow(id: typeof runId) {
      runId = id;
    },
    workflowId,
    input,
    start,
    proxy: tables.proxy(),
    /** How the model answers next: a value, or what it throws. */
    modelSays: (...answers: readonly unknown[]) =>
      modelScript.push(
        ...answers.map((answer) => async () => {
          if (answer instanceof Error) throw answer;
          return answer;
        }),
      ),
    modelDoes: (answer: (request: ModelRequest) => Promise<unknown>) => modelScript.push(answer),
    /** The process of the last Task. */
    life: () => life,
    async history(): Promise<RunHistory> {
      const history = await log.read(runId);
      if (!history) throw new Error("the run was started");
      return history;
    },
    steps: async () => (await world.history()).steps.map(({ position, next }) => `${position} → ${next}`),
    async state(): Promise<Record<string, unknown>> {
      const { steps } = await world.history();
      return Object.fromEntries(
        steps.map((step) => [step.node, "json" in step.output ? JSON.parse(step.output.json) : step.output]),
      );
    },
    /** Runs one Task in a process of its own. */
    async step(
      line: string,
      position: string,
      over: {
        readonly execution?: string;
        readonly killedInMs?: number;
        readonly crash?: CrashPoint;
        readonly agent?: Agent;
      } = {},
    ): Promise<LineExit> {
      const own = new Life(over.crash);
      life = own;
      return runLine(
        over.agent ?? agent,
        lineNamed(line, over.agent ?? agent),
        {
          runId,
          position: position as Position,
          execution: over.execution ?? `${runId}-1`,
          killedAtMs: clock.nowMs() + (over.killedInMs ?? invocationMs),
          functionArn: undefined,
        },
        nodePorts(own),
      );
    },
    /** What a version makes of the run, in a process of its own. */
    async takeOver(
      by: Agent,
      over: { readonly execution?: string; readonly crash?: CrashPoint } = {},
    ): Promise<LineExit> {
      const own = new Life(over.crash);
      life = own;
      const { run: now } = await world.history();
      const execution = over.execution ?? now.execution;
      const position = "0000.any" as Position;
      const killedAtMs = clock.nowMs() + invocationMs;
      return takeOverRun(by, { runId, position, execution, killedAtMs, functionArn: undefined }, nodePorts(own));
    },
    /** Enters the state that waits at the end of a line, with a token of its own. */
    async wait(line: string, token: string, execution = `${runId}-1`): Promise<string> {
      tokens.set(token, "open");
      await registerWait({ runId, line, execution }, token, ports);
      return tokens.get(token) ?? "";
    },
    async waiter(): Promise<Waiter> {
      const waiter = (await world.history()).waiters.at(-1);
      if (!waiter) throw new Error("nobody waits");
      return waiter;
    },
    /** Answers the newest waiter as its subject asks. */
    async answer(outcome: "approved" | "rejected", over: Partial<ApprovalOutcome> = {}): Promise<Answered> {
      const waiter = await world.waiter();
      return answerApproval(waiter, { ...decision(waiter, clock.nowMs(), outcome), ...over }, ports);
    },
    /** The routes of the state machine, from an execution's start to its end or to a wait that nobody has answered. */
    async drive(
      over: {
        readonly execution?: number;
        readonly crash?: { readonly line: string; readonly at: CrashPoint };
        /** The version whose states these are. Default: the run's first. */
        readonly agent?: Agent;
      } = {},
    ): Promise<string> {
      const own = over.agent ?? agent;
      const attempt = over.execution ?? 1;
      const name = `${runId}-${attempt}`;
      const entered = executions.find((execution) => execution.name === name)?.input;
      if (!entered) throw new Error(`execution ${name} was not started`);
      let { position = "", next: at = "" } = entered;
      let crash = over.crash;
      for (let moves = 0; moves < movesMax; moves++) {
        if (at === END) return "done";
        const line = at === TAKE_OVER ? takingOver : lineOf(linesOf(own), at);
        if (!line) throw new Error(`no line has ${at}`);
        try {
          if (line === takingOver) {
            ({ position, next: at } = await world.takeOver(own, { execution: name }));
            continue;
          }
          const here = crash?.line === line.name ? crash.at : undefined;
          if (here) crash = undefined;
          const exit = await world.step(line.name, position, {
            execution: name,
            agent: own,
            ...(here && { crash: here }),
          });
          if (exit.next !== WAIT) {
            ({ position } = exit);
            at = exit.next;
            continue;
          }
          ({ position } = exit);
          const told = await world.wait(line.name, `token-${name}-${moves}`, name);
          if (told === "open") return "waits";
          at = afterWait(own, line, told);
        } catch (error) {
          const next = await world.caught(line, error, name, own);
          if (next === "again") continue;
          if (!next.startsWith("to ")) return next;
          at = next.slice(3);
        }
      }
      throw new Error(`expected an end within ${movesMax} moves`);
    },
    /** What the generated Retry and Catch blocks do with an error of a line. */
    async caught(line: Line, error: unknown, execution: string, agent: Agent): Promise<string> {
      if (diedOf(error)) {
        clock.advance(invocationMs + 1_000);
        return "again";
      }
      if (!(error instanceof WireFault)) throw error;
      if (error.name === wireError.stale) return "stopped";
      if ([wireError.later, wireError.crashed, wireError.passing].includes(error.name as never)) {
        clock.advance(60_000);
        return "again";
      }
      if (error.name === wireError.handOver) return "again";
      const sentTo = line.nodes.flatMap((node) =>
        sentBackTargets(agent, node).filter((target) => error.name === sentBackError(agent, node, target)),
      );
      if (sentTo[0] !== undefined) return `to ${sentTo[0]}`;
      if (line.nodes.some((node) => error.name === wireError.retryable(node))) {
        clock.advance(30_000);
        return "again";
      }
      return (await settleRun(runId, execution, error.name, ports)).status;
    },
  };

  function afterWait(agent: Agent, line: Line, told: string): string {
    const name = line.nodes.at(-1) ?? "";
    const approval = nodeOf(agent, name) as ApprovalNode;
    const next =
      told === wireError.rejected ? approval.onReject : told === wireError.expired ? approval.onExpire : approval.next;
    // An answer that ends the run comes back into its line, which closes the run.
    return next === END ? name : next;
  }
  return world;
}

/** A decision on what a waiter shows, as the API records it. */
export function decision(waiter: Waiter, nowMs: number, outcome: "approved" | "rejected"): ApprovalOutcome {
  const subject = Binding.parse(JSON.parse("json" in waiter.subject ? waiter.subject.json : "{}"));
  return {
    outcome,
    ...subject,
    valid_until: waiter.expires_at,
    by: "kim",
    at: new Date(nowMs).toISOString(),
  };
}
