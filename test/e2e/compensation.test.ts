import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Run } from "../../infra/cli/api-shapes.ts";
import type { DynamoRequest } from "../builders/dynamo-proxy.ts";
import {
  mailEffects,
  paymentOf,
  paymentsEffects,
  seedPayment,
  senderPid,
  slowMs,
  type Stage,
  startStage,
  ticketFor,
} from "./stage.ts";

vi.setConfig({ testTimeout: slowMs, hookTimeout: slowMs });

const agent = "compensated-refund";
/** The payment out of which a refund of another one comes back. */
const backOf = (payment: string): string => `${payment}_back`;

/** A run of refund and mail that fails after both, and is killed while they are taken back. */
interface Death {
  readonly name: string;
  readonly title: string;
  /** The write at which the process dies. Undefined: nobody dies. */
  readonly at?: (request: DynamoRequest) => boolean;
  /** Whether that write lands. */
  readonly landed: boolean;
  /** How often the money was asked back. */
  readonly requests: number;
}

const ofLedger = (position: string, status: string) => (request: DynamoRequest) =>
  request.table === "ledger" && request.item["position"] === position && request.item["status"] === status;
const stepOf =
  (node: string) =>
  ({ table, item }: DynamoRequest) =>
    table === "runs" && item["node"] === node && "output" in item;

const deaths: readonly Death[] = [
  {
    name: "claimed",
    title: "once the second is claimed and before it is sent",
    at: ofLedger("0001.refund.compensate", "STARTED"),
    landed: true,
    requests: 1,
  },
  {
    name: "answered",
    title: "once the second has happened and before it is recorded",
    at: ofLedger("0001.refund.compensate", "SUCCEEDED"),
    landed: false,
    requests: 2,
  },
  { name: "between", title: "between the two", at: stepOf("notify.compensate"), landed: true, requests: 1 },
  {
    name: "stepped",
    title: "once the second is recorded and before the run takes its end",
    at: stepOf("refund.compensate"),
    landed: true,
    requests: 1,
  },
  { name: "nobody", title: "by nobody", landed: true, requests: 1 },
];

let stage: Stage;
const plays = new Map<string, Promise<Run>>();
const killed: number[] = [];

beforeAll(async () => {
  stage = await startStage({ agents: [agent] });
  for (const death of deaths) {
    const { payments } = stage.world;
    await seedPayment(payments.control, death.name);
    await payments.control.post("payments", {
      id: backOf(paymentOf(death.name)),
      amount_cents: 50_000,
      order_id: `ORD-${death.name}`,
    });
    const dead = diesAt(death);
    const runId = await stage.start(agent, death.name, ticketFor(death.name, 4_000));
    await dead;
    const play = stage.ended(runId);
    play.catch(() => undefined); // it belongs to its own test
    plays.set(death.name, play);
  }
});

afterAll(() => stage?.stop());

test.for(deaths.map((death): [string, Death] => [death.title, death]))(
  "a refund and its mail are each taken back once, the mail first, when the process is killed %s",
  async ([, { name, requests }]) => {
    const run = await plays.get(name);
    if (!run) throw new Error(`${name} was never started`);
    expect(run).toMatchObject({
      status: "FAILED",
      outcome: "failed",
      failure: { node: "verify" },
      compensation: { because: "failed", compensating: false },
    });
    const at = (position: string) => {
      const operation = run.operations.find((candidate) => candidate.position === position);
      const step = run.steps.find((candidate) => candidate.position === position);
      if (!operation || !step) throw new Error(`nothing happened at ${position}`);
      return { ...operation, steppedAt: step.created_at };
    };
    const [refund, mail] = [at("0001.refund"), at("0002.notify")];
    const [refundUndone, mailUndone] = [at("0001.refund.compensate"), at("0002.notify.compensate")];
    expect(run.operations.map(({ status }) => status)).toEqual(run.operations.map(() => "SUCCEEDED"));
    expect([refundUndone.compensates, mailUndone.compensates]).toEqual([refund.operation_id, mail.operation_id]);
    expect(mailUndone.steppedAt < refundUndone.steppedAt).toBe(true);

    const payments = await paymentsEffects(stage.world);
    expect(payments.by_payment[paymentOf(name)]).toEqual({ count: 1, amount_cents: 4_000 });
    expect(payments.by_payment[backOf(paymentOf(name))]).toEqual({ count: 1, amount_cents: 4_000 });
    expect(payments.requests_by_key[refundUndone.operation_id]).toBe(requests);
    const { by_operation } = await mailEffects(stage.world);
    expect([by_operation[mail.operation_id], by_operation[mailUndone.operation_id]]).toEqual([1, 1]);
  },
);

test("four processes were killed", async () => {
  await Promise.all(plays.values());
  expect(killed).toHaveLength(4);
});

/** Resolves once the process that sends the write is dead; nothing that it asked for is answered any more. */
function diesAt({ name, at, landed }: Death): Promise<void> {
  if (!at) return Promise.resolve();
  return new Promise((resolve) => {
    const kill = (request: DynamoRequest) => {
      const pid = senderPid(request);
      process.kill(pid, "SIGKILL");
      killed.push(pid);
      resolve();
    };
    const isIt = (request: DynamoRequest) => request.operation === "PutItem" && isOf(name, request) && at(request);
    stage.proxy.on(isIt, landed ? { after: kill, answer: "never" } : { before: kill, forward: false, answer: "never" });
  });
}

/** An operation names its workflow; a step its run, whose opening named the workflow. */
function isOf(name: string, { item }: DynamoRequest): boolean {
  if (item["workflow_id"] !== undefined) return item["workflow_id"] === name;
  const opened = stage.proxy.requests.find(
    (request) => request.item["item"] === "RUN" && request.item["workflow_id"] === name,
  );
  return opened !== undefined && item["run_id"] === opened.item["run_id"];
}
