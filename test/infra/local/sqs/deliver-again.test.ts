import { describe, expect, it } from "vitest";
import type { InvokeResult } from "../../../../infra/local/lambda/lambda-failure.ts";
import { deliverAgain } from "../../../../infra/local/sqs/deliver-again.ts";
import type { SqsEvent, SqsRecord } from "../../../../infra/local/sqs/sqs-event.ts";
import { aQueue, consume, reportFailed, succeeded, untilEmpty } from "./sqs-fixture.ts";

const aRecord = (messageId: string): SqsRecord => ({
  messageId,
  receiptHandle: `handle-${messageId}`,
  body: messageId,
  attributes: {
    ApproximateReceiveCount: "1",
    ApproximateFirstReceiveTimestamp: "1788350400100",
    SenderId: "000000000000",
    SentTimestamp: "1788350400000",
  },
  messageAttributes: {},
  md5OfBody: "",
  eventSource: "aws:sqs",
  eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:deliveries.fifo",
  awsRegion: "us-east-1",
});
const batch: SqsEvent = { Records: ["m1", "m2", "m3"].map(aRecord) };
const failure: InvokeResult = { ok: false, error: "Sandbox.Timedout", cause: "{}" };

/** What arrives of the batch, as message and receive count, and what the queue is told. */
async function deliver(times: number, seed: number, answer: (record: SqsRecord) => InvokeResult = () => succeeded()) {
  const arrivals: string[] = [];
  const handles = new Set<string>();
  const invoke = deliverAgain(
    async (_name, payload) => {
      const [record = aRecord("none"), ...others] = (payload as SqsEvent).Records;
      expect(others).toEqual([]);
      arrivals.push(`${record.messageId}/${record.attributes.ApproximateReceiveCount}`);
      handles.add(record.receiptHandle);
      return answer(record);
    },
    { times, seed },
  );
  return { told: await invoke("deliver", batch), arrivals, handles };
}

describe("delivering again", () => {
  it("delivers every message so many times, each with a receive count and receipt handle of its own", async () => {
    const { arrivals, handles } = await deliver(3, 7);
    expect([...arrivals].sort()).toEqual(["m1/1", "m1/2", "m1/3", "m2/1", "m2/2", "m2/3", "m3/1", "m3/2", "m3/3"]);
    expect(handles.size).toBe(9);
  });

  it("repeats an order from its seed, and has others for other seeds", async () => {
    const orderOf = async (seed: number) => (await deliver(3, seed)).arrivals.join(" ");
    expect(await orderOf(7)).toBe(await orderOf(7));
    const orders = new Set(await Promise.all([1, 2, 3, 4, 5].map(orderOf)));
    expect(orders.size).toBeGreaterThan(1);
  });

  it("has a message deleted after one success, however its other deliveries ended", async () => {
    const { told } = await deliver(2, 7, ({ attributes }) =>
      attributes.ApproximateReceiveCount === "1" ? succeeded() : failure,
    );
    expect(told).toEqual(succeeded({ batchItemFailures: [] }));
  });

  it("keeps a message that no delivery finished, be it by an error, a report or a wrong answer", async () => {
    const { told } = await deliver(2, 7, (record) => {
      if (record.messageId === "m1") return succeeded();
      if (record.messageId === "m3") return succeeded({ batchItemFailures: [{ itemIdentifier: "" }] });
      return record.attributes.ApproximateReceiveCount === "1" ? failure : reportFailed([record]);
    });
    expect(told).toEqual(succeeded({ batchItemFailures: [{ itemIdentifier: "m2" }, { itemIdentifier: "m3" }] }));
  });

  it("passes the failure on where nothing succeeded", async () => {
    expect((await deliver(2, 7, () => failure)).told).toEqual(failure);
  });

  it("fits between a queue and its function", async () => {
    const queue = await aQueue();
    for (const group of ["a", "b"]) await queue.send(group, group);
    const arrivals: string[] = [];
    const invoke = deliverAgain(
      async (_name, payload) => {
        arrivals.push(...(payload as SqsEvent).Records.map(({ body }) => body));
        return succeeded();
      },
      { times: 3, seed: 7 },
    );
    await consume(queue, () => succeeded(), { invoke });
    await untilEmpty(queue);
    expect(arrivals.sort()).toEqual(["a", "a", "a", "b", "b", "b"]);
  });
});
