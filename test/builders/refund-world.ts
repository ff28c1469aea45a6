import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { controlClient } from "../../infra/local/downstreams/control-client.ts";
import { MailEffects, startMailServer } from "../../infra/local/downstreams/mail-server.ts";
import { PaymentsEffects, startPaymentsServer } from "../../infra/local/downstreams/payments-server.ts";
import refundModelScript from "../../infra/local/downstreams/refund-model-script.ts";
import refundAgent from "../../lambdas/agents/refund-agent/agent.ts";
import { refundEnvNames } from "../../lambdas/agents/refund-agent/settings.ts";
import { createDeliverHandler } from "../../lambdas/deliver/deliver-handler.ts";
import { createSettleHandler } from "../../lambdas/settle/settle-handler.ts";
import { createStepHandler } from "../../lambdas/step/step-handler.ts";
import { createWaitHandler } from "../../lambdas/wait/wait-handler.ts";
import type { Decision } from "../../shared/approval/approval.ts";
import { Fault } from "../../shared/index.ts";
import { dynamoLedgerStore } from "../../shared/ledger/dynamo-ledger-store.ts";
import { createLedger } from "../../shared/ledger/ledger.ts";
import type { ModelPort } from "../../shared/model/model-port.ts";
import { folderPayloadStore } from "../../shared/payloads/folder-payload-store.ts";
import { decideApproval } from "../../shared/run/decide-approval.ts";
import { resumeRun } from "../../shared/run/resume-run.ts";
import { startRun } from "../../shared/run/start-run.ts";
import { dynamoRunLog } from "../../shared/runlog/dynamo-run-log.ts";
import { countingIds } from "./counting-ids.ts";
import { Engine } from "./engine.ts";
import { type CrashPoint, Life } from "./life.ts";
import { ManualClock } from "./manual-clock.ts";
import { RecordingLogger } from "./recording-logger.ts";
import { RecordingMetrics } from "./recording-metrics.ts";
import { recordingQueue } from "./recording-queue.ts";

const arn = "arn:aws:states:us-east-1:000000000000:stateMachine:refund-agent";
/** The payments server reads the real clock: a record is played on years later, within the window by its own. */
const forEverMs = 1_000 * 365 * 86_400_000;
const functionArn = "arn:aws:lambda:us-east-1:000000000000:function:step-refund-agent:1";
const invocation = { getRemainingTimeInMillis: () => 120_000, invokedFunctionArn: functionArn };

export interface RefundWorldOptions {
  readonly client: DynamoDBDocumentClient;
  /** Where its clock stands. Default noon. */
  readonly nowMs?: number;
  /** What the other side has already, as `outside()` told it. */
  readonly outside?: Readonly<Record<string, string>>;
}

export type RefundWorld = Awaited<ReturnType<typeof refundWorld>>;

/** The shipped refund agent on real tables, with a payments and a mail server of its own, driven by a state machine reduced to its routes. */
export async function refundWorld({ client, nowMs, outside = {} }: RefundWorldOptions) {
  const folder = mkdtempSync(join(tmpdir(), "surefoot-refund-"));
  const journal = (name: string) => join(folder, `${name}.jsonl`);
  for (const [name, text] of Object.entries(outside)) writeFileSync(journal(name), text);
  const payments = await startPaymentsServer({ dataFile: journal("payments"), keyWindowMs: forEverMs });
  const mail = await startMailServer({ dataFile: journal("mail") });
  const restore = setEnvironment({
    [refundEnvNames.stripeKey]: "sk_test_local",
    [refundEnvNames.stripeBaseUrl]: payments.url,
    [refundEnvNames.smtpUrl]: `smtp://127.0.0.1:${mail.smtp?.port ?? 0}`,
  });

  const clock = new ManualClock(nowMs);
  const ids = countingIds();
  const metrics = new RecordingMetrics();
  const logger = new RecordingLogger();
  const queue = recordingQueue();
  const payloads = folderPayloadStore(join(folder, "payloads"));
  mkdirSync(join(folder, "payloads"));
  const log = dynamoRunLog({ client, table: "runs", clock, ids });
  const ledgerStore = dynamoLedgerStore(client, "ledger");
  const ledger = createLedger({ store: ledgerStore, clock, ids });
  /** Nodes whose model was asked, in order. */
  const asked: string[] = [];
  let failing = 0;
  const models: ModelPort = {
    async answer({ name, data, output }) {
      asked.push(name);
      if (failing-- > 0) throw new Fault("http_500", "retryable", "the model is not there");
      const request = { schemaName: name, user: data } as Parameters<typeof refundModelScript>[0];
      return { output: output.parse(refundModelScript(request)), usage: { input_tokens: 10, output_tokens: 5 } };
    },
  };

  const crashes: CrashPoint[] = [];
  const portsOf = (life: Life) => ({
    ...ports,
    log: life.port("log", log),
    ledger: life.port("ledger", ledger),
    models,
    endProcess: () => undefined,
  });
  const step = (event: unknown) =>
    createStepHandler(refundAgent, portsOf(new Life(crashes.shift())))(event, invocation);
  const engine: Engine = new Engine(refundAgent, {
    step,
    wait: (event) => createWaitHandler(ports)(event),
    settle: (event) => createSettleHandler(ports)(event),
  });
  const ports = {
    ...{ clock, ids, metrics, logger, queue, payloads, log, ledger, ledgerStore },
    executions: engine.executions,
    executionStates: engine.executionStates,
    waker: engine.waker,
    functions: {
      reconcile: (_arn: string, id: string) => step({ action: "reconcile", operation_id: id }).then(() => undefined),
      deliver: (_arn: string, id: string) => step({ action: "deliver", operation_id: id }).then(() => undefined),
    },
  };

  return {
    ...{ clock, metrics, log, ledgerStore, payloads, asked, engine },
    agent: refundAgent,
    /** Starts a run for a payment that the payments server knows. @returns its id. */
    async start(workflowId: string, requestedAmountCents: number): Promise<string> {
      const input = {
        ...{ orderId: "ORD-DEMO-2", paymentId: "pi_demo_2", requestedAmountCents },
        ...{ customerEmail: "customer@example.com", message: "It broke." },
      };
      const { run } = await startRun(refundAgent, arn, { workflowId, input, allowNewRun: false }, ports);
      return run.run_id;
    },
    /** Goes on until somebody is waited for. */
    go: () => engine.settle(),
    resume: (runId: string) => resumeRun(runId, ports),
    /** The next answers of models fail, whoever asks. */
    failModels: (times: number) => void (failing = times),
    /** Where the process of the next step dies. */
    dieAt: (crash: CrashPoint) => void crashes.push(crash),
    /** What the state machine does once its retries are spent. */
    async giveUp(runId: string, error: string): Promise<void> {
      const name = engine.names().findLast((execution) => execution.startsWith(runId)) ?? "";
      await createSettleHandler(ports)({ run_id: runId, execution: name, error });
      engine.kill(name);
    },
    async decide(runId: string, decision: Decision, comment?: string): Promise<void> {
      const waiter = (await log.read(runId))?.waiters.findLast(({ kind }) => kind === "approval");
      if (!waiter) throw new Error("nobody was asked");
      const approver = { by: "ann", known_by: "iam" as const, roles: [] };
      await decideApproval(waiter, { decision, approver, comment }, ports);
    },
    /** The queue hands out everything that lies in it, once. */
    async deliver(): Promise<void> {
      const handler = createDeliverHandler(5, ports);
      for (const { operationId } of queue.sent.splice(0)) {
        await handler({
          Records: [
            {
              ...{ messageId: "message", receiptHandle: "receipt" },
              body: JSON.stringify({ operation_id: operationId }),
              attributes: { ApproximateReceiveCount: "1" },
            },
          ],
        });
      }
    },
    /** Refunds that the payments server made. */
    refunds: async () => PaymentsEffects.parse(await controlClient(payments.url).get("effects")).refunds,
    /** Mails that the mail server took. */
    mails: async () => MailEffects.parse(await controlClient(mail.url).get("effects")).emails,
    /** What the other side has by now. */
    outside: () => ({ payments: read(journal("payments")), mail: read(journal("mail")) }),
    async close(): Promise<void> {
      restore();
      await payments.close();
      await mail.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // nothing has happened there
  }
}

/** The shipped agent reads its settings when a tool is called. @returns what puts them back. */
function setEnvironment(settings: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(settings).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, settings);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}
