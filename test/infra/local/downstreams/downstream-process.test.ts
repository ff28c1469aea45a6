import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTransport } from "nodemailer";
import { afterEach, beforeEach, expect, test } from "vitest";
import { firstMessage, forkModule } from "../../../../infra/local/child-process.ts";
import {
  startDownstream,
  type DownstreamKind,
  type DownstreamOptions,
  type DownstreamProcess,
} from "../../../../infra/local/downstreams/downstream-process.ts";
import { stripeClient } from "./stripe-client.ts";

let folder: string;
let started: DownstreamProcess[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "surefoot-downstreams-"));
  started = [];
});
afterEach(async () => {
  await Promise.all(started.map((downstream) => downstream.kill9()));
  rmSync(folder, { recursive: true });
});

async function start(kind: DownstreamKind, options: DownstreamOptions = {}): Promise<DownstreamProcess> {
  const downstream = await startDownstream(kind, options);
  started.push(downstream);
  return downstream;
}

const params = { payment_intent: "pi_demo_1", amount: 1_000 };

test("payments survive kill -9 with their money, keys, seeds, clock and counts, and a torn last line is dropped", async () => {
  const dataFile = join(folder, "payments.jsonl");
  const first = await start("payments", { dataFile });
  await first.control.post("payments", { id: "pi_seeded", amount_cents: 50, order_id: "O-1" });
  await first.control.post("clock", { offset_ms: 3_600_000 });
  const refund = await stripeClient(first.url).refunds.create(params, { idempotencyKey: "k1" });
  const before = await first.control.get("effects");
  await first.kill9();
  appendFileSync(dataFile, '{"type":"executed","refund":{"id":"re_to');

  const second = await start("payments", { dataFile });
  expect(await second.control.get("effects")).toEqual(before);
  const replayed = await stripeClient(second.url).refunds.create(params, { idempotencyKey: "k1" });
  expect(replayed).toEqual(refund);
  expect(replayed.lastResponse.headers["idempotent-replayed"]).toBe("true");
  await stripeClient(second.url).refunds.create({ payment_intent: "pi_seeded" });
  await second.kill9();

  const third = await start("payments", { dataFile });
  expect(await third.control.get("effects")).toMatchObject({ refunds: 2, requests: 3 });
});

test("a refund whose server is killed while it holds the answer is in the books of the next one", async () => {
  const dataFile = join(folder, "payments.jsonl");
  const first = await start("payments", { dataFile });
  await first.control.post("faults", { fault: "hold_after_commit" });
  const client = stripeClient(first.url);
  const outcome = client.refunds.create(params, { idempotencyKey: "k1" }).catch((fault: unknown) => fault);
  await first.control.get("wait?for=commit&count=1");
  await first.kill9();
  expect(await outcome).toMatchObject({ type: "StripeConnectionError" });

  const second = await start("payments", { dataFile, port: Number(new URL(first.url).port) });
  expect(second.url).toBe(first.url);
  const replayed = await client.refunds.create(params, { idempotencyKey: "k1" });
  expect(replayed.lastResponse.headers["idempotent-replayed"]).toBe("true");
  expect(await second.control.get("effects")).toMatchObject({ refunds: 1 });
});

test("mail survives kill -9", async () => {
  const dataFile = join(folder, "mail.jsonl");
  const first = await start("mail", { dataFile });
  await createTransport({ ...first.smtp }).sendMail({ from: "a@x.test", to: "b@x.test", subject: "Hi", text: "there" });
  await first.kill9();

  const second = await start("mail", { dataFile });
  expect(await second.control.get("effects")).toMatchObject({
    emails: 1,
    messages: [{ subject: "Hi", text: "there" }],
  });
});

test("the model's child plays the refund agent's script, or the module it is given", async () => {
  const script = join(folder, "script.ts");
  writeFileSync(script, "export default (request: { model: string }): unknown => ({ echoed: request.model });");
  const [refunds, own] = await Promise.all([start("model"), start("model", { script })]);
  const ask = async ({ url }: DownstreamProcess) => {
    const body = {
      model: "m",
      messages: [{ role: "user", content: '{"input":{"orderId":"O-1"}}' }],
      response_format: { type: "json_schema", json_schema: { name: "plan", schema: {} } },
    };
    const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(body) });
    return JSON.stringify(await response.json());
  };

  expect(await ask(refunds)).toContain("Refund order O-1");
  expect(await ask(own)).toContain(String.raw`{\"echoed\":\"m\"}`);
});

test("stop ends a child", async () => {
  const downstream = await start("payments");
  await downstream.stop();

  await expect(downstream.control.get("effects")).rejects.toThrow("fetch failed");
});

test("a child ends when its parent is killed", async () => {
  const parent = forkModule(fileURLToPath(new URL("./parent-of-payments.ts", import.meta.url)));
  const url = await firstMessage(parent, (message) => (typeof message === "string" ? message : undefined));
  const asking = fetch(`${url}/_surefoot/wait?for=commit&timeout_ms=30000`);
  const lost = expect(asking).rejects.toThrow("fetch failed"); // an orphan would answer 408 in the end
  await parent.kill9();

  await lost;
  await expect(fetch(url)).rejects.toThrow("fetch failed");
}, 40_000);

test("a child that cannot start says why", async () => {
  const dataFile = join(folder, "other.jsonl");
  writeFileSync(dataFile, "not ours\n");

  await expect(startDownstream("payments", { dataFile })).rejects.toThrow(
    /exited first.*other\.jsonl:1 is not a line/s,
  );
});
