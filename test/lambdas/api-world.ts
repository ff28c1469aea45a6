import { recordingQueue } from "../builders/recording-queue.ts";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { createDecideApp } from "../../lambdas/api/decide-app.ts";
import { createReadApp } from "../../lambdas/api/read-app.ts";
import { createStartApp } from "../../lambdas/api/start-app.ts";
import { createStepHandler } from "../../lambdas/step/step-handler.ts";
import { createWaitHandler } from "../../lambdas/wait/wait-handler.ts";
import type { Agent } from "../../shared/index.ts";
import { createLedger } from "../../shared/ledger/ledger.ts";
import { dynamoLedgerStore } from "../../shared/ledger/dynamo-ledger-store.ts";
import { folderPayloadStore } from "../../shared/payloads/folder-payload-store.ts";
import { dynamoReleases } from "../../shared/release/dynamo-releases.ts";
import type { WakeResult } from "../../shared/ports/executions.ts";
import { dynamoRunLog } from "../../shared/runlog/dynamo-run-log.ts";
import { waiterId } from "../../shared/waiter/waiter.ts";
import { countingIds } from "../builders/counting-ids.ts";
import type { LocalTables } from "../builders/local-tables.ts";
import { ManualClock } from "../builders/manual-clock.ts";
import { RecordingLogger } from "../builders/recording-logger.ts";
import { RecordingMetrics } from "../builders/recording-metrics.ts";

/** A task token as it would look if it leaked. */
export const secretToken = "task-token-that-nobody-may-see";

export interface Answer {
  readonly status: number;
  /** Parsed JSON. */
  readonly body: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- checked by the expectations
  readonly text: string;
}

export interface Started {
  readonly stateMachineArn: string;
  readonly name: string;
  readonly input: Readonly<Record<string, string>>;
}

/** Everything that the three apps and the two handlers leave somewhere: what a refusal must not change. */
export interface Traces {
  readonly items: number;
  readonly payloads: readonly string[];
  readonly started: number;
  readonly woken: number;
}

export type ApiWorld = ReturnType<typeof apiWorld>;

/** The HTTP API's apps over the real tables, with engine, clock and chance in the test's hand. */
export function apiWorld(tables: LocalTables, agents: readonly Agent[]) {
  const client = tables.client();
  const clock = new ManualClock();
  const ids = countingIds();
  const logger = new RecordingLogger();
  const payloadsFolder = join(tables.folder(), "payloads");
  const started: Started[] = [];
  const woken: { readonly taskToken: string; readonly error?: string }[] = [];
  let wakes: () => WakeResult = () => "woken";
  const log = dynamoRunLog({ client, table: "runs", clock, ids });
  const ledgerStore = dynamoLedgerStore(client, "ledger");
  const ports = {
    clock,
    ids,
    logger,
    log,
    ledgerStore,
    ledger: createLedger({ store: ledgerStore, clock, ids }),
    payloads: folderPayloadStore(payloadsFolder),
    metrics: new RecordingMetrics(),
    models: { answer: () => Promise.reject(new Error("no model is asked here")) },
    queue: recordingQueue(),
    releases: dynamoReleases(client, "runs"),
    endProcess: () => undefined,
    executions: {
      start: async (stateMachineArn: string, name: string, input: Readonly<Record<string, string>>) => {
        started.push({ stateMachineArn, name, input });
      },
    },
    waker: {
      succeed: async (taskToken: string) => {
        woken.push({ taskToken });
        return wakes();
      },
      fail: async (taskToken: string, error: string) => {
        woken.push({ taskToken, error });
        return wakes();
      },
    },
  };
  const stateMachines = Object.fromEntries(agents.map(({ name }) => [name, `arn:of:${name}`]));
  const apps = {
    start: createStartApp(agents, { stateMachines, contracts: {} }, ports),
    read: createReadApp(
      agents.map(({ name }) => name),
      ports,
    ),
    decide: createDecideApp(ports),
  };

  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    env?: Readonly<Record<string, unknown>>,
  ): Promise<Answer> => {
    const app = method === "GET" ? apps.read : path.startsWith("/runs") ? apps.start : apps.decide;
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const init = { method, ...(body !== undefined && { body: text, headers: { "content-type": "application/json" } }) };
    const response = await app.request(path, init, env);
    const answered = await response.text();
    return { status: response.status, body: JSON.parse(answered), text: answered };
  };

  return {
    ...ports,
    started,
    woken,
    /** What Step Functions says to the next wake-up calls. */
    wakesAs(answer: () => WakeResult): void {
      wakes = answer;
    },
    get: (path: string) => ask("GET", path),
    post: (path: string, body: unknown, env?: Readonly<Record<string, unknown>>) => ask("POST", path, body, env),

    async traces(): Promise<Traces> {
      const scans = ["runs", "ledger"].map((TableName) => client.send(new ScanCommand({ TableName, Select: "COUNT" })));
      const counts = (await Promise.all(scans)).map(({ Count }) => Count ?? 0);
      return {
        items: counts.reduce((sum, count) => sum + count, 0),
        payloads: existsSync(payloadsFolder)
          ? readdirSync(payloadsFolder, { recursive: true, encoding: "utf8" }).sort()
          : [],
        started: started.length,
        woken: woken.length,
      };
    },

    /** Starts a run over HTTP and plays its state machine up to the wait for a person. */
    async park(agent: Agent, workflowId: string, input: unknown, startedBy?: Readonly<Record<string, unknown>>) {
      const { body } = await ask("POST", "/runs", { agent: agent.name, workflow_id: workflowId, input }, startedBy);
      const runId: string = body.run_id;
      const execution = `${runId}-1`;
      const node = agent.nodes[0]?.name ?? "";
      const step = createStepHandler(agent, ports);
      const position = `0000.${node}`;
      await step({ run_id: runId, position, line: node, execution }, { getRemainingTimeInMillis: () => 60_000 });
      const wait = createWaitHandler(ports);
      await wait({ action: "ask", run_id: runId, line: node, execution, task_token: secretToken });
      return { runId, execution, approvalId: waiterId(runId, position), path: `/approvals/${runId}:${position}` };
    },
  };
}
