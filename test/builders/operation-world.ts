import { recordingQueue } from "./recording-queue.ts";
import { join } from "node:path";
import { z } from "zod";
import { byKey, byQuery, defineAgent, type DurationMs, hours, minutes, none, writeTool } from "../../shared/index.ts";
import { dynamoLedgerStore } from "../../shared/ledger/dynamo-ledger-store.ts";
import type { Capability, LedgerEntry } from "../../shared/ledger/ledger-entry.ts";
import { createLedger } from "../../shared/ledger/ledger.ts";
import type { LedgerStore } from "../../shared/ledger/ledger-store.ts";
import type { LookupAnswer } from "../../shared/agent/tool.ts";
import { operationId } from "../../shared/operation/operation-id.ts";
import type { OperationCall } from "../../shared/operation/operation-call.ts";
import { type OperationResult, runOperation } from "../../shared/operation/run-operation.ts";
import { folderPayloadStore } from "../../shared/payloads/folder-payload-store.ts";
import { dynamoRunLog } from "../../shared/runlog/dynamo-run-log.ts";
import { positionAt } from "../../shared/runlog/position.ts";
import { RunId, type RunRecord } from "../../shared/runlog/run-record.ts";
import type { RunLog } from "../../shared/runlog/run-log.ts";
import { countingIds } from "./counting-ids.ts";
import { Downstream, type OrderRequest, type Receipt } from "./downstream.ts";
import { type CrashPoint, Life } from "./life.ts";
import type { LocalTables } from "./local-tables.ts";
import { ManualClock } from "./manual-clock.ts";
import { RecordingLogger } from "./recording-logger.ts";
import { RecordingMetrics } from "./recording-metrics.ts";

export const Order = z.object({ order: z.string(), amountCents: z.number().int(), note: z.string().optional() });
export const ReceiptSchema = z.object({ ref: z.string(), amountCents: z.number().int() });

/** How long an invocation of these tests lives. A lease ends a second later. */
export const invocationMs = 60_000;
/** Until an attempt's lease has lapsed for sure. */
export const leaseMs = 61_000;
export const settleMs = 120_000;

export interface WorldOptions {
  /** PAY has keys for 24 hours, CRM can be asked and settles in 2 minutes, SMS has neither. Default `key`. */
  readonly capability?: Capability;
  readonly window?: DurationMs;
  /** Gives a keyed tool a lookup beside its key. */
  readonly keyLookup?: boolean;
  readonly attempts?: number;
  readonly precondition?: (request: OrderRequest) => true | string;
  readonly output?: z.ZodType;
  readonly externalRef?: (result: unknown) => string;
  readonly businessKey?: () => string;
  readonly request?: () => OrderRequest;
  /** In the lookup's place. */
  readonly lookup?: () => Promise<LookupAnswer<Receipt>>;
}

export interface Entry {
  readonly input?: OrderRequest;
  readonly crash?: CrashPoint;
  /** The process stands still while time goes on outside: its own timers do not fire. */
  readonly paused?: boolean;
}

export type OperationWorld = Awaited<ReturnType<typeof operationWorld>>;

/** One write node, its run and the other side, on a real table. Each `enter` is a process of its own. */
export async function operationWorld(tables: LocalTables, options: WorldOptions = {}) {
  const { capability = "key", window = hours(24) } = options;
  const clock = new ManualClock();
  const ids = countingIds();
  const metrics = new RecordingMetrics();
  const logger = new RecordingLogger();
  const downstream = new Downstream(clock, capability === "key" ? window : undefined);
  let life = new Life();
  let ended = 0;

  const lookup = (_request: unknown, id: string) =>
    life.pass("tool.lookup", () => options.lookup?.() ?? downstream.lookup(id));
  const side = {
    key: byKey({ window, ...(options.keyLookup && { lookup, settle: settleMs }) }),
    query: byQuery({ settle: minutes(2), lookup }),
    none: none(),
  }[capability];
  const tool = writeTool("place_order", {
    version: 1,
    risk: "high",
    input: Order,
    output: options.output ?? ReceiptSchema,
    downstream: side,
    semanticFields: ["order", "amountCents"],
    externalRef: options.externalRef ?? ((receipt) => (receipt as Receipt).ref),
    timeout: 10_000,
    ...(options.attempts !== undefined && { attempts: options.attempts }),
    execute: (request, { idempotencyKey, signal }) =>
      life.pass("tool.execute", () => downstream.call(request, idempotencyKey, signal)) as Promise<never>,
  });
  const agent = defineAgent("order-agent", { version: 1, input: Order })
    .write("place", {
      tool,
      with: options.request ?? (({ input }) => input),
      businessKey: options.businessKey ?? (({ input }) => input.order),
      ...(options.precondition && { precondition: options.precondition }),
    })
    .end();
  const [node] = agent.nodes;
  if (node?.kind !== "write") throw new Error("the agent is one write");

  const store: LedgerStore = dynamoLedgerStore(tables.proxied(), "ledger");
  const log: RunLog = dynamoRunLog({ client: tables.proxied(), table: "runs", clock, ids });
  const runId = RunId.parse(`run-${ids.next()}`);
  const run: RunRecord = {
    run_id: runId,
    agent: "order-agent",
    workflow_id: `order-of-${runId}`,
    workflow_version: 1,
    contract_digest: "digest",
    checkpoint_schema_version: 1,
    status: "RUNNING",
    input: { json: '{"amountCents":4200,"order":"ORD-1"}' },
    input_digest: "digest",
    entry: "plan",
    state_machine_arn: "arn:aws:states:us-east-1:000000000000:stateMachine:order-agent",
    execution: `${runId}-1`,
    execution_attempt: 1,
    created_at: "2026-09-02T12:00:00.000Z",
    updated_at: "2026-09-02T12:00:00.000Z",
    write_id: ids.next(),
  };
  await log.open(run, false);
  const id = operationId(runId, "place", "ORD-1");
  const payloads = folderPayloadStore(join(tables.folder(), "payloads"));

  return {
    clock,
    metrics,
    logger,
    downstream,
    store,
    log,
    run,
    operationId: id,
    proxy: tables.proxy(),
    /** How often the process was ended by the code itself. */
    ended: () => ended,
    /** What the ledger says. */
    entry: (): Promise<LedgerEntry | undefined> => store.read(id),
    /** Enters the operation in a new process, which may crash. */
    async enter(over: Entry = {}): Promise<OperationResult> {
      const own = new Life(over.crash);
      life = own;
      const call: OperationCall = {
        run,
        node,
        position: positionAt(0, "place"),
        state: { input: over.input ?? { order: "ORD-1", amountCents: 4_200 } },
        approvals: [],
        guarded: false,
        killedAtMs: clock.nowMs() + invocationMs,
        dispatcher: "run",
        functionArn: undefined,
      };
      return runOperation(call, {
        ledger: own.port("ledger", createLedger({ store, clock, ids })),
        payloads: own.port("payloads", payloads),
        clock: over.paused ? { nowMs: () => clock.nowMs(), after: () => () => undefined } : clock,
        metrics,
        logger,
        readRun: (of) => own.pass("log.readRun", () => log.readRun(of)),
        queue: recordingQueue(),
        endProcess: () => {
          ended++;
        },
      });
    },
  };
}

/** The fault a promise ends with. */
export async function faultOf(
  promise: Promise<unknown>,
): Promise<{ name: string; code?: string; message: string; notBeforeMs?: number; failureClass?: string }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error("expected a fault, found success");
}
