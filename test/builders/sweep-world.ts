import { join } from "node:path";
import { z } from "zod";
import { createDeliverHandler } from "../../lambdas/deliver/deliver-handler.ts";
import { createSettleHandler } from "../../lambdas/settle/settle-handler.ts";
import { createStepHandler } from "../../lambdas/step/step-handler.ts";
import { createWaitHandler } from "../../lambdas/wait/wait-handler.ts";
import type { LookupAnswer } from "../../shared/agent/tool.ts";
import { byKey, byQuery, days, defineAgent, hours, minutes, none, type Agent, writeTool } from "../../shared/index.ts";
import { dynamoLedgerStore } from "../../shared/ledger/dynamo-ledger-store.ts";
import { createLedger } from "../../shared/ledger/ledger.ts";
import type { LedgerEntry } from "../../shared/ledger/ledger-entry.ts";
import { operationId } from "../../shared/operation/operation-id.ts";
import { folderPayloadStore } from "../../shared/payloads/folder-payload-store.ts";
import { startRun } from "../../shared/run/start-run.ts";
import { dynamoRunLog } from "../../shared/runlog/dynamo-run-log.ts";
import { dynamoReleases } from "../../shared/release/dynamo-releases.ts";
import type { RunHistory } from "../../shared/runlog/run-log.ts";
import { dynamoSweepState } from "../../shared/sweep/dynamo-sweep-state.ts";
import { sweep, type SweepReport } from "../../shared/sweep/sweep.ts";
import type { SweepPorts, SweepState } from "../../shared/sweep/sweep-ports.ts";
import { countingIds } from "./counting-ids.ts";
import { Downstream, type OrderRequest, type Receipt } from "./downstream.ts";
import { Engine } from "./engine.ts";
import { type CrashPoint, Life } from "./life.ts";
import type { LocalTables } from "./local-tables.ts";
import { ManualClock } from "./manual-clock.ts";
import { RecordingLogger } from "./recording-logger.ts";
import { RecordingMetrics } from "./recording-metrics.ts";
import { recordingQueue } from "./recording-queue.ts";

const Order = z.object({ order: z.string(), amountCents: z.number().int() });
const ReceiptSchema = z.object({ ref: z.string(), amountCents: z.number().int() });

/** How long an invocation of these tests lives. A lease ends a second later. */
export const invocationMs = 60_000;
/** Until the lease of an attempt that began now has lapsed. */
export const lapsedMs = 61_001;
export const functionArn = "arn:aws:lambda:us-east-1:000000000000:function:step-order-agent:7";

export interface SweepWorldOptions {
  /** What the other side can tell. `queue` and `human` can tell nothing and lower the automation. Default `key`. */
  readonly side?: "key" | "key_and_query" | "query" | "none" | "queue" | "human";
  /** Asks a person before the order is placed. */
  readonly approval?: boolean;
  /** Different people who have to say yes. Default 1. */
  readonly quorum?: number;
  /** Whether the tool makes its answer from a reference alone. Default true. */
  readonly resultOf?: boolean;
  readonly attempts?: number;
  readonly settleMs?: number;
  /** In the lookup's place. */
  readonly lookup?: () => Promise<LookupAnswer<Receipt>>;
  /** Each process that is started. Default one that lives. */
  readonly life?: (crash?: CrashPoint) => Life;
}

export type SweepWorld = Awaited<ReturnType<typeof sweepWorld>>;

/** A run that places an order, the state machine that drives it, the worker of its queue, and the sweep: real tables, one outside world. */
export async function sweepWorld(tables: LocalTables, options: SweepWorldOptions = {}) {
  const { side = "key", settleMs = minutes(2) } = options;
  const clock = new ManualClock();
  const ids = countingIds();
  const metrics = new RecordingMetrics();
  const logger = new RecordingLogger();
  const queue = recordingQueue();
  const downstream = new Downstream(clock, side.startsWith("key") ? hours(24) : undefined);
  const newLife = options.life ?? ((crash?: CrashPoint) => new Life(crash));

  /** The agent as one process has it: its calls to the outside end with the process. */
  const agentOf = (life: Life): Agent => {
    const lookup = (_request: OrderRequest, id: string) =>
      life.pass("tool.lookup", () => options.lookup?.() ?? downstream.lookup(id));
    const place = writeTool("place_order", {
      version: 1,
      risk: "high",
      input: Order,
      output: ReceiptSchema,
      downstream: {
        key: byKey<OrderRequest, Receipt>({ window: hours(24) }),
        key_and_query: byKey({ window: hours(24), lookup, settle: settleMs }),
        query: byQuery({ settle: settleMs, lookup }),
        none: none(),
        queue: none({ delivery: "queue" }),
        human: none({ delivery: "human" }),
      }[side],
      semanticFields: ["order", "amountCents"],
      externalRef: ({ ref }) => ref,
      ...(options.resultOf !== false && {
        resultOf: (ref: string, { amountCents }: OrderRequest) => ({ ref, amountCents }),
      }),
      ...(options.attempts !== undefined && { attempts: options.attempts }),
      execute: (request, { idempotencyKey, signal }) =>
        life.pass("tool.execute", () => downstream.call(request, idempotencyKey, signal)) as Promise<never>,
    });
    const write = {
      tool: place,
      with: ({ input }: { input: OrderRequest }) => input,
      businessKey: ({ input }: { input: OrderRequest }) => input.order,
    };
    const tally = {
      output: z.object({ text: z.string() }),
      run: ({ place: placed }: { place: Receipt }) => ({ text: `placed as ${placed.ref}` }),
    };
    const agent = defineAgent("order-agent", { version: 1, input: Order });
    if (!options.approval) return agent.write("place", write).compute("tally", tally).end();
    return agent
      .approval("review", {
        of: "place",
        show: ({ input }) => ({
          title: "Place the order",
          fields: [{ type: "money", label: "Amount", amount_cents: input.amountCents, currency: "EUR" }],
          on_approve: "It is placed.",
          on_reject: "Nothing happens.",
        }),
        validFor: days(1),
        approvers: { quorum: options.quorum ?? 1 },
        onReject: "end",
      })
      .write("place", write)
      .compute("tally", tally)
      .end();
  };

  const log = dynamoRunLog({ client: tables.proxied(), table: "runs", clock, ids });
  const ledgerStore = dynamoLedgerStore(tables.proxied(), "ledger");
  const ledger = createLedger({ store: ledgerStore, clock, ids });
  const releases = dynamoReleases(tables.proxied(), "runs");
  const payloads = folderPayloadStore(join(tables.folder(), "payloads"));
  const dynamoState = dynamoSweepState(tables.proxied(), "runs");
  let state: SweepState = { cursors: {}, finishedAtMs: undefined };

  /** Where the next step Tasks die. */
  const crashes: CrashPoint[] = [];
  const stepHandler = (life: Life) =>
    createStepHandler(agentOf(life), {
      ...portsOf(life),
      models: { answer: () => Promise.reject(new Error("no model is asked here")) },
      endProcess: () => undefined,
    });
  const invocation = { getRemainingTimeInMillis: () => invocationMs, invokedFunctionArn: functionArn };
  const invoked: string[] = [];
  const functions = {
    reconcile: async (arn: string, id: string) => {
      invoked.push(`reconcile ${id} by ${arn}`);
      await stepHandler(newLife())({ action: "reconcile", operation_id: id }, invocation);
    },
    deliver: async (arn: string, id: string) => {
      invoked.push(`deliver ${id} by ${arn}`);
      await stepHandler(newLife(crashes.shift()))({ action: "deliver", operation_id: id }, invocation);
    },
  };

  const engine = new Engine(agentOf(new Life()), {
    step: (event) => stepHandler(newLife(crashes.shift()))(event, invocation),
    wait: (event) => createWaitHandler(portsOf(new Life()))(event),
    settle: (event) => createSettleHandler(portsOf(new Life()))(event),
  });

  /** The ports as one process sees them. */
  function portsOf(life: Life): SweepPorts {
    return {
      clock,
      ids,
      metrics,
      logger,
      payloads,
      log: life.port("log", log),
      ledger: life.port("ledger", ledger),
      ledgerStore: life.port("store", ledgerStore),
      waker: life.port("waker", engine.waker),
      executions: life.port("executions", engine.executions),
      executionStates: life.port("states", engine.executionStates),
      queue: life.port("queue", queue),
      releases: life.port("releases", releases),
      functions,
      // One world's own: worlds of a file share a table.
      sweepState: {
        read: async () => state,
        write: async (next) => {
          state = next;
        },
      },
    };
  }

  const workflowId = `ticket-${ids.next()}`;
  const input = { order: `ORD-${workflowId}`, amountCents: 4_200 };
  const { run } = await startRun(
    agentOf(new Life()),
    "arn:aws:states:us-east-1:000000000000:stateMachine:order-agent",
    { workflowId, input, allowNewRun: false },
    portsOf(new Life()),
  );
  const runId = run.run_id;
  const id = operationId(runId, "place", input.order);

  const world = {
    clock,
    ids,
    metrics,
    logger,
    queue,
    downstream,
    engine,
    log,
    ledger,
    ledgerStore,
    releases,
    dynamoState,
    runId,
    input,
    operationId: id,
    /** `reconcile ID by ARN` and `deliver ID by ARN`, in order. */
    invoked,
    ports: portsOf(new Life()),
    portsOf,
    sweepState: () => state,
    /** The next process that runs a line or delivers dies there. */
    dieAt: (crash: CrashPoint) => crashes.push(crash),
    go: () => engine.settle(),
    killExecution: (attempt = 1) => engine.kill(`${runId}-${attempt}`),
    /** One sweep over this world's own run: others of the file lie in the same tables. */
    sweep: (over: { readonly crash?: CrashPoint; readonly deadlineMs?: number } = {}): Promise<SweepReport> =>
      sweep(
        { pageMax: 25, deadlineMs: over.deadlineMs ?? clock.nowMs() + 600_000 },
        onlyOf(runId, portsOf(newLife(over.crash))),
      ),
    deliver: (records: readonly { readonly body: string; readonly receives?: number }[], receivesMax = 5) =>
      createDeliverHandler(
        receivesMax,
        portsOf(newLife()),
      )({
        Records: records.map(({ body, receives = 1 }, n) => ({
          messageId: `message-${n}`,
          receiptHandle: `receipt-${n}-${receives}`,
          body,
          attributes: { ApproximateReceiveCount: String(receives) },
        })),
      }),
    /** What SQS would hand out of the newest message that was sent. */
    message: (receives = 1) => ({
      body: JSON.stringify({ operation_id: queue.sent.at(-1)?.operationId ?? "nothing was sent" }),
      receives,
    }),
    async entry(): Promise<LedgerEntry> {
      const entry = await ledgerStore.read(id);
      if (!entry) throw new Error("nothing was written about the operation");
      return entry;
    },
    async history(): Promise<RunHistory> {
      const history = await log.read(runId);
      if (!history) throw new Error("the run was started");
      return history;
    },
    /** `SUCCEEDED/1 effects/SUCCEEDED`: the run, the outside and the ledger, at a glance. */
    async verdict(): Promise<string> {
      const [{ run: now }, entry] = [await world.history(), await world.entry()];
      return `run ${now.status}, ${downstream.effects.length} effects, operation ${entry.status}`;
    },
  };
  return world;
}

/** The same ports, but the open indexes show one run's items alone. */
export function onlyOf(runId: string, ports: SweepPorts): SweepPorts {
  const own = <T extends { readonly run_id: string }>(items: readonly T[]) =>
    items.filter((item) => item.run_id === runId);
  return {
    ...ports,
    ledgerStore: {
      ...ports.ledgerStore,
      pageOpen: async (status) => ({ items: own(await ports.ledgerStore.listOpen(status)) }),
    },
    log: {
      ...ports.log,
      pageOpenRuns: async () => ({ items: own(await ports.log.listOpenRuns()) }),
      pageOpenWaiters: async () => ({ items: own(await ports.log.listOpenWaiters()) }),
    },
  };
}
