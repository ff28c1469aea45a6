import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type ControlClient, controlClient } from "../../infra/local/downstreams/control-client.ts";
import type { RunningDownstream } from "../../infra/local/downstreams/downstream-program.ts";
import { ModelRequests, startModelServer } from "../../infra/local/downstreams/model-server.ts";
import refundModelScript from "../../infra/local/downstreams/refund-model-script.ts";
import { envNames } from "../../lambdas/env.ts";
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

const agent = "quick-refund";
let stage: Stage;
/** In this process, so that the moment of each answer can be told. */
let model: RunningDownstream | undefined;
let control: ControlClient;
const answeredAtMs: number[] = [];

beforeAll(async () => {
  const server = await startModelServer({
    script: (request) => {
      answeredAtMs.push(Date.now());
      return refundModelScript(request);
    },
  });
  model = server;
  control = controlClient(server.url);
  stage = await startStage({ agents: [agent], environment: { [envNames.modelBaseUrl]: `${server.url}/v1` } });
});
afterAll(async () => {
  await stage?.stop();
  await model?.close();
});
afterEach(() => control.delete("faults"));

/** How often each schema was asked for while `play` ran. */
async function askedDuring<T>(play: () => Promise<T>): Promise<readonly [result: T, asked: Record<string, number>]> {
  const requests = async () => ModelRequests.parse(await control.get("requests")).log.length;
  const before = await requests();
  const result = await play();
  const { log } = ModelRequests.parse(await control.get("requests"));
  const asked: Record<string, number> = {};
  for (const { schema } of log.slice(before)) asked[schema ?? ""] = (asked[schema ?? ""] ?? 0) + 1;
  return [result, asked];
}

async function play(name: string) {
  await seedPayment(stage.world.payments.control, name);
  return stage.ended(await stage.start(agent, name, ticketFor(name, 1_000)));
}

test("an answer that is recorded is never asked for again, although the process dies after each of them", async () => {
  const died: string[] = [];
  for (const node of ["plan", "draft", "finalize"]) {
    const recordsAnswer = ({ operation, item }: DynamoRequest) => operation === "PutItem" && item["node"] === node;
    const kill = (request: DynamoRequest) => {
      process.kill(senderPid(request), "SIGKILL");
      died.push(node);
    };
    stage.proxy.on(recordsAnswer, { after: kill, answer: "never" });
  }
  const [run, asked] = await askedDuring(() => play("killed-thrice"));
  expect(died).toEqual(["plan", "draft", "finalize"]);
  expect(run.status).toBe("SUCCEEDED");
  expect(asked).toEqual({ plan: 1, draft: 1, finalize: 1 });
});

test("a model that answers 500 is asked as often as its node's policy says, and the run is parked with the reason", async () => {
  await control.post("faults", { fault: "status", status: 500, times: 50 });
  const [run, asked] = await askedDuring(() => play("model-down"));
  expect(asked).toEqual({ plan: 3 });
  expect(run).toMatchObject({
    status: "PARKED",
    failure: {
      node: "plan",
      position: "0000.plan",
      attempts: 3,
      error: { code: "http_500", failure_class: "retryable" },
    },
  });
  expect(run.failure?.next_move).toContain(run.run_id);
  expect(run.steps).toEqual([]);
});

test("a model that refuses for good is asked once, and the run has failed", async () => {
  await control.post("faults", { fault: "status", status: 401, times: 50 });
  const [run, asked] = await askedDuring(() => play("model-refuses"));
  expect(asked).toEqual({ plan: 1 });
  expect(run).toMatchObject({
    status: "FAILED",
    failure: { node: "plan", attempts: 1, error: { code: "http_401", failure_class: "final" } },
  });
});

test("two answers that do not fit are asked for again, and the third is used", async () => {
  await control.post("faults", { fault: "invalid_answer", schema: "draft" });
  await control.post("faults", { fault: "not_json", schema: "draft" });
  const [run, asked] = await askedDuring(() => play("model-rambles"));
  expect(asked).toEqual({ plan: 1, draft: 3, finalize: 1 });
  expect(run.status).toBe("SUCCEEDED");
  expect(run.failures).toMatchObject([{ node: "draft", attempts: 2, error: { code: "model_invalid_answer" } }]);
});

test("a payment is not repeated when the answer after it does not fit", async () => {
  await control.post("faults", { fault: "invalid_answer", schema: "finalize", times: 2 });
  const [run, asked] = await askedDuring(() => play("summary-rambles"));
  expect(run.status).toBe("SUCCEEDED");
  expect(asked).toEqual({ plan: 1, draft: 1, finalize: 3 });
  expect((await paymentsEffects(stage.world)).by_payment[paymentOf("summary-rambles")]?.count).toBe(1);
  const mails = (await mailEffects(stage.world)).messages.filter(({ to }) =>
    to.includes("summary-rambles@example.com"),
  );
  expect(mails).toHaveLength(1);
});

test("no request comes before the moment that the model's retry-after names", async () => {
  await control.post("faults", { fault: "status", status: 429, retry_after_seconds: 4, schema: "plan" });
  answeredAtMs.length = 0;
  const [run, asked] = await askedDuring(() => play("model-busy"));
  expect(run.status).toBe("SUCCEEDED");
  expect(asked).toEqual({ plan: 2, draft: 1, finalize: 1 });
  const [failure] = run.failures;
  // The floor was counted from the refusal, by the process that read it; the script answers at once when a request arrives.
  const floorMs = Date.parse(failure?.updated_at ?? "") + 4_000;
  expect(failure).toMatchObject({ node: "plan", attempts: 1, error: { code: "http_429" } });
  expect(answeredAtMs[0]).toBeGreaterThanOrEqual(floorMs - clockReadsApartMs);
});

/** The floor and the record's own time are two readings of one clock, a moment apart. */
const clockReadsApartMs = 500;
