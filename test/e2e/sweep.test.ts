import { UpdateItemCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { executionArn } from "../../infra/local/step-functions/arn.ts";
import { type DynamoProxy, refuse, startDynamoProxy } from "../builders/dynamo-proxy.ts";
import type { sides } from "./agents/refund-sides.ts";
import {
  eventually,
  operationOf,
  paymentOf,
  paymentsEffects,
  seedPayment,
  senderPid,
  slowMs,
  type Stage,
  startStage,
} from "./stage.ts";

vi.setConfig({ testTimeout: slowMs, hookTimeout: slowMs });

const agent = "refund-sides";
type Side = (typeof sides)[number];

let stage: Stage;
let engine: DynamoProxy | undefined;

beforeAll(async () => {
  stage = await startStage({
    agents: [agent],
    runner: {
      settings: { stepTimeoutSeconds: 10 },
      sweepEveryMs: 2_000,
      stepFunctionsEndpointFor: async (target) => (engine = await startDynamoProxy({ target })).endpoint,
    },
  });
});
afterAll(async () => {
  await stage?.stop();
  await engine?.stop();
});

const start = async (name: string, side: Side | "review") => {
  await seedPayment(stage.world.payments.control, name);
  return stage.start(agent, name, { paymentId: paymentOf(name), side });
};
const fail = (name: string, fault: object) =>
  stage.world.payments.control.post("faults", { ...fault, payment: paymentOf(name) });
const refundsOf = async (name: string) => (await paymentsEffects(stage.world)).by_payment[paymentOf(name)]?.count ?? 0;
/** The run, once its operation has the status. */
const until = (runId: string, status: string) =>
  eventually(
    () => stage.run(runId),
    ({ operations }) => operations[0]?.status === status,
  );

describe("a refund whose process is killed once the money moved, and whose execution is gone", () => {
  const ends = { by_key: "SUCCEEDED", by_query: "SUCCEEDED", by_nothing: "UNKNOWN" } as const;
  const runs = new Map<Side, string>();

  beforeAll(async () => {
    const { control } = stage.world.payments;
    for (const side of Object.keys(ends) as Side[]) {
      const { refunds } = await paymentsEffects(stage.world);
      await fail(`gone-${side}`, { fault: "hold_after_commit" });
      const runId = await start(`gone-${side}`, side);
      await control.get(`wait?for=commit&count=${refunds + 1}&timeout_ms=120000`);
      stage.runner.stepFunctions.stopExecution({ executionArn: executionArn(agent, `${runId}-1`) });
      const claim = stage.proxy.requests.find(({ item }) => item["run_id"] === runId && item["status"] === "STARTED");
      if (!claim) throw new Error(`${side}: money moved, but no attempt was claimed`);
      process.kill(senderPid(claim), "SIGKILL");
      runs.set(side, runId);
    }
  });

  test.each(Object.entries(ends) as [Side, (typeof ends)[Side]][])(
    "is found out about by the sweep alone: %s is %s, with one refund, and the run goes on in a new execution",
    async (side, status) => {
      const runId = runs.get(side) ?? "";
      const found = await until(runId, status);
      // Nobody but the sweep: the run has no execution, and is too young for another.
      expect(found.status).toBe("RUNNING");
      expect(operationOf(found)).toMatchObject({ status, attempt: side === "by_key" ? 2 : 1 });
      expect(await refundsOf(`gone-${side}`)).toBe(1);

      await aged(runId);
      if (status === "UNKNOWN") {
        const parked = await stage.until(runId, ["PARKED"]);
        expect(parked).toMatchObject({ waiting_for: side, failure: { error: { code: "operation_unknown" } } });
        await stage.resolve(operationOf(parked).operation_id, "succeeded", "re_seen");
      }
      expect(await stage.until(runId, ["SUCCEEDED"])).toMatchObject({ outcome: "completed" });
      expect(await refundsOf(`gone-${side}`)).toBe(1);
    },
  );

  /** Two minutes pass for the run: a younger one may have a starter that is still about to start its execution. */
  async function aged(runId: string) {
    const client = new DynamoDBClient({
      endpoint: stage.runner.dynamoEndpoint,
      region: "us-east-1",
      credentials: { accessKeyId: "local", secretAccessKey: "local" },
    });
    await client.send(
      new UpdateItemCommand({
        TableName: "runs",
        Key: { run_id: { S: runId }, item: { S: "RUN" } },
        UpdateExpression: "SET updated_at = :then",
        ExpressionAttributeValues: { ":then": { S: new Date(Date.now() - 120_000).toISOString() } },
      }),
    );
    client.destroy();
  }
});

interface Trouble {
  readonly side: Side;
  readonly what: string;
  readonly fault: object;
  /** What a person says where it is UNKNOWN, and what had happened by then. */
  readonly person?: "succeeded" | "retry";
}

/** Past the tool's own time, and before *not found* counts. */
const lateMs = 7_000;

const troubles: readonly Trouble[] = [
  { side: "by_key", what: "two dropped responses", fault: { fault: "drop_response", times: 2 } },
  { side: "by_key", what: "an answer that comes too late", fault: { fault: "slow", ms: lateMs } },
  { side: "by_key", what: "a late commit", fault: { fault: "late_commit", ms: 1_000 } },
  { side: "by_key", what: "429 twice", fault: { fault: "status", status: 429, times: 2 } },
  {
    side: "by_key",
    what: "500 for its key, for ever, although the money moved",
    fault: { fault: "status_after_commit", status: 500 },
  },
  { side: "by_query", what: "a dropped response", fault: { fault: "drop_response" } },
  { side: "by_query", what: "a late commit", fault: { fault: "late_commit", ms: lateMs } },
  { side: "by_query", what: "429 twice", fault: { fault: "status", status: 429, times: 2 } },
  { side: "by_query", what: "500 before anything happened", fault: { fault: "status", status: 500 } },
  {
    side: "by_nothing",
    what: "a dropped response",
    fault: { fault: "drop_response" },
    person: "succeeded",
  },
  {
    side: "by_nothing",
    what: "a late commit",
    fault: { fault: "late_commit", ms: lateMs },
    person: "succeeded",
  },
  { side: "by_nothing", what: "429 twice", fault: { fault: "status", status: 429, times: 2 } },
  {
    side: "by_nothing",
    what: "500 before anything happened",
    fault: { fault: "status", status: 500 },
    person: "retry",
  },
];

describe("a refund", () => {
  const runs = new Map<Trouble, string>();
  const nameOf = (trouble: Trouble) => `trouble-${troubles.indexOf(trouble)}`;

  beforeAll(async () => {
    for (const trouble of troubles) {
      await fail(nameOf(trouble), trouble.fault);
      runs.set(trouble, await start(nameOf(trouble), trouble.side));
    }
  });

  test.each(
    troubles.map((trouble) => [trouble.side, trouble.what, trouble.person ? "a person" : "nobody", trouble] as const),
  )("%s survives %s with one effect; %s is asked", async (side, _what, _person, trouble) => {
    const runId = runs.get(trouble) ?? "";
    if (trouble.person) {
      const parked = await stage.until(runId, ["PARKED"]);
      const { operation_id, status } = operationOf(parked);
      expect(status).toBe("UNKNOWN");
      // They look first: what is late has landed by then.
      const refunds = trouble.person === "succeeded" ? 1 : 0;
      await eventually(
        () => refundsOf(nameOf(trouble)),
        (count) => count === refunds,
      );
      await stage.resolve(operation_id, trouble.person, trouble.person === "succeeded" ? "re_seen" : undefined);
    }
    const run = await stage.until(runId, ["SUCCEEDED"]);
    expect(operationOf(run)).toMatchObject({ action_name: `refund_${side}`, status: "SUCCEEDED" });
    expect(await refundsOf(nameOf(trouble))).toBe(1);
  });
});

describe("a wake-up that Step Functions never got", () => {
  /** Every try of the SDK, and the caller learns that it failed. */
  const loseTheNext = () => engine!.on(({ operation }) => operation === "SendTaskSuccess", refuse, 3);

  /** A run says that it waits before its token is there; whoever answers in between finds nobody to wake. */
  const waitsOnToken = (runId: string) =>
    eventually(
      async () =>
        stage.proxy.requests.some(({ operation, item, values }) => {
          const waiter = item["run_id"] === runId && String(item["item"]).startsWith("WAIT#");
          return operation === "UpdateItem" && waiter && ":token" in values;
        }),
      (registered) => registered,
    );

  test("after a decision: the sweep tells the run", async () => {
    const runId = await start("unheard-decision", "review");
    const approval = await stage.asked(runId);
    await waitsOnToken(runId);
    const lost = loseTheNext();
    await expect(stage.approve(approval)).rejects.toThrow();
    expect(lost()).toBe(3);
    expect(await stage.until(runId, ["SUCCEEDED"])).toMatchObject({ outcome: "completed" });
    expect(await refundsOf("unheard-decision")).toBe(1);
  });

  test("after a person's word on what was unknown: the sweep tells the run", async () => {
    await fail("unheard-word", { fault: "drop_response" });
    const runId = await start("unheard-word", "by_nothing");
    const parked = await stage.until(runId, ["PARKED"]);
    await waitsOnToken(runId);
    const lost = loseTheNext();
    await expect(stage.resolve(operationOf(parked).operation_id, "succeeded", "re_seen")).rejects.toThrow();
    expect(lost()).toBe(3);
    expect(await stage.until(runId, ["SUCCEEDED"])).toMatchObject({ outcome: "completed" });
    expect(await refundsOf("unheard-word")).toBe(1);
  });
});
