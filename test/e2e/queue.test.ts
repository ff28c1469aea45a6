import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetQueueAttributesCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { deliverAgain } from "../../infra/local/sqs/deliver-again.ts";
import { type DynamoProxy, refuse, startDynamoProxy } from "../builders/dynamo-proxy.ts";
import { unreadableFolderName } from "./agents/queued-mail.ts";
import { eventually, mailEffects, operationOf, slowMs, type Stage, startStage } from "./stage.ts";

vi.setConfig({ testTimeout: slowMs, hookTimeout: slowMs });

const agent = "queued-mail";
const folder = mkdtempSync(join(tmpdir(), "surefoot-queue-"));
const unreadable = join(folder, "unreadable");
const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];

let stage: Stage;
let engine: DynamoProxy;
let sqs: SQSClient;
/** Nothing is delivered before: so all messages lie in the queue, and come in batches that can be shuffled. */
let open = () => {};
const opened = new Promise<void>((resolve) => (open = resolve));
/** Whether each message comes three times. */
let repeated = true;

beforeAll(async () => {
  mkdirSync(unreadable);
  stage = await startStage({
    agents: [agent],
    environment: { [unreadableFolderName]: unreadable },
    runner: {
      settings: { stepTimeoutSeconds: 10 },
      sweepEveryMs: 2_000,
      stepFunctionsEndpointFor: async (target) => (engine = await startDynamoProxy({ target })).endpoint,
      deliveries: {
        receivesMax: 2,
        batchSize: 10,
        concurrency: 1,
        invokeFor: (invoke) => {
          const thrice = deliverAgain(invoke, { times: 3, seed: 11 });
          return async (name, payload) => (await opened, repeated ? thrice : invoke)(name, payload);
        },
      },
    },
  });
  stops.push(
    () => engine.stop(),
    () => stage.stop(),
  );
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  sqs = new SQSClient({ endpoint: stage.runner.sqs.endpoint, region: "us-east-1", credentials });
  stops.push(() => sqs.destroy());
});
afterAll(async () => {
  open();
  for (const stop of stops.reverse()) await stop();
});

const addressOf = (name: string) => `${name}@example.com`;
const start = (name: string) => stage.start(agent, name, { to: addressOf(name) });
const fail = (name: string, fault: object) =>
  stage.world.mail.control.post("faults", { ...fault, to: addressOf(name) });
const mailsTo = async (name: string) =>
  (await mailEffects(stage.world)).messages.filter(({ to }) => to.includes(addressOf(name))).length;
const messagesIn = async (queue: "deliveries" | "deadLetters") => {
  const request = { QueueUrl: stage.runner.sqs[queue], AttributeNames: ["ApproximateNumberOfMessages" as const] };
  return Number((await sqs.send(new GetQueueAttributesCommand(request))).Attributes?.["ApproximateNumberOfMessages"]);
};
const send = (body: string, id: string) =>
  sqs.send(
    new SendMessageCommand({
      QueueUrl: stage.runner.sqs.deliveries,
      MessageBody: body,
      MessageGroupId: id,
      MessageDeduplicationId: id,
    }),
  );

describe("six mails, each of whose messages comes three times, shuffled, and one of which nobody can deliver", () => {
  const names = ["ada", "ben", "cleo", "dan", "eve"];
  const runs = new Map<string, string>();
  let dead: readonly string[];

  beforeAll(async () => {
    for (const name of [...names, "poison"]) runs.set(name, await start(name));
    for (const runId of runs.values()) await stage.until(runId, ["WAITING"]);
    writeFileSync(join(unreadable, addressOf("poison")), "");
    await send("no message of ours", "foreign");
    open();
  });

  test.each(names)("%s gets one", async (name) => {
    const run = await stage.until(runs.get(name) ?? "", ["SUCCEEDED"]);
    expect(operationOf(run)).toMatchObject({ status: "SUCCEEDED", attempt: 1 });
    expect(await mailsTo(name)).toBe(1);
  });

  test("the poison alone, and what is no message of ours, end among the dead letters; its run is parked with the reason", async () => {
    const run = await stage.until(runs.get("poison") ?? "", ["PARKED"]);
    expect(run.failure).toMatchObject({ node: "mail", error: { code: "undeliverable" } });
    expect(run.failure?.error.message).toContain("dead letter queue");
    expect(operationOf(run)).toMatchObject({ status: "PENDING", attempt: 0 });
    expect(await mailsTo("poison")).toBe(0);

    await eventually(
      () => messagesIn("deadLetters"),
      (count) => count === 2,
    );
    expect(await messagesIn("deliveries")).toBe(0);
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl: stage.runner.sqs.deadLetters, MaxNumberOfMessages: 10 }),
    );
    dead = Messages.map(({ Body = "" }) => Body);
    expect([...dead].sort()).toEqual(
      ["no message of ours", JSON.stringify({ operation_id: operationOf(run).operation_id })].sort(),
    );
  });

  test("its cause mended and its letter put back, the poison is delivered once and its run goes on", async () => {
    rmSync(join(unreadable, addressOf("poison")));
    await send(dead.find((body) => body.includes("operation_id")) ?? "", "put-back");
    expect(await stage.until(runs.get("poison") ?? "", ["SUCCEEDED"])).toMatchObject({ outcome: "completed" });
    expect(await mailsTo("poison")).toBe(1);
  });
});

describe("a queued mail", () => {
  beforeAll(() => {
    repeated = false;
  });

  test("that the mail server turns away twice goes out a third time, as another message each time", async () => {
    await fail("frank", { fault: "reject", status: 451, times: 2 });
    const run = await stage.until(await start("frank"), ["SUCCEEDED"]);
    expect(operationOf(run)).toMatchObject({ status: "SUCCEEDED", attempt: 3 });
    expect(await mailsTo("frank")).toBe(1);
  });

  test("whose acceptance was not heard is never sent again: a person is asked, and the run goes on with their word", async () => {
    await fail("grace", { fault: "drop_after_accept" });
    const parked = await stage.until(await start("grace"), ["PARKED"]);
    const { operation_id, status, attempt } = operationOf(parked);
    expect([status, attempt, parked.waiting_for]).toEqual(["UNKNOWN", 1, "mail"]);
    await stage.resolve(operation_id, "succeeded", "<seen@example.com>");
    expect(await stage.until(parked.run_id, ["SUCCEEDED"])).toMatchObject({ outcome: "completed" });
    expect(await mailsTo("grace")).toBe(1);
  });

  test("whose worker is killed while the mail server has it, is told to its run by the sweep", async () => {
    await fail("heidi", { fault: "hold_after_accept" });
    const { emails } = await mailEffects(stage.world);
    const runId = await start("heidi");
    await stage.world.mail.control.get(`wait?for=message&count=${emails + 1}&timeout_ms=120000`);
    const busy = stage.runner.lambdas.processes("deliver").filter((worker) => worker.busy);
    expect(busy).toHaveLength(1);
    for (const { pid } of busy) process.kill(pid, "SIGKILL");
    await stage.world.mail.control.delete("faults");
    const run = await stage.until(runId, ["SUCCEEDED"]);
    expect(operationOf(run)).toMatchObject({ status: "SUCCEEDED", attempt: 1 });
    expect(await mailsTo("heidi")).toBe(1);
  });

  test("whose result Step Functions never got is told to its run by the sweep", async () => {
    // Every try of the SDK.
    const lost = engine.on(({ operation }) => operation === "SendTaskSuccess", refuse, 3);
    const run = await stage.until(await start("ivan"), ["SUCCEEDED"]);
    expect(lost()).toBe(3);
    expect(operationOf(run)).toMatchObject({ status: "SUCCEEDED", attempt: 1 });
    expect(await mailsTo("ivan")).toBe(1);
  });
});
