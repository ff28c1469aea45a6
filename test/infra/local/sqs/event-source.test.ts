import { SendMessageCommand } from "@aws-sdk/client-sqs";
import type { SQSEvent } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { startEventSource } from "../../../../infra/local/sqs/event-source.ts";
import type { SqsEvent } from "../../../../infra/local/sqs/sqs-event.ts";
import { aGate, aQueue, consume, reportFailed, soon, succeeded, untilEmpty } from "./sqs-fixture.ts";

const threw = { ok: false, error: "surefoot.final.deliver", cause: `{"errorMessage":"no"}` } as const;

describe("an event source", () => {
  it("invokes the function with Lambda's SQS event", async () => {
    const queue = await aQueue();
    await queue.client.send(
      new SendMessageCommand({
        QueueUrl: queue.queueUrl,
        MessageBody: "hello",
        MessageGroupId: "run-1",
        MessageDeduplicationId: "c5a7",
        MessageAttributes: {
          kind: { DataType: "String", StringValue: "mail" },
          seal: { DataType: "Binary", BinaryValue: new Uint8Array([1, 2, 3]) },
        },
      }),
    );
    const { events } = await consume(queue, () => succeeded());
    await untilEmpty(queue);

    const asLambdaTypesIt: SQSEvent["Records"] = events.flatMap(({ Records }) => [...Records]);
    expect(asLambdaTypesIt).toEqual([
      {
        messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        receiptHandle: expect.stringMatching(/./),
        body: "hello",
        attributes: {
          ApproximateReceiveCount: "1",
          SentTimestamp: expect.stringMatching(/^\d{13}$/),
          ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
          SenderId: "000000000000",
          MessageGroupId: "run-1",
          MessageDeduplicationId: "c5a7",
          SequenceNumber: "00000000000000000001",
        },
        messageAttributes: {
          kind: { stringValue: "mail", stringListValues: [], binaryListValues: [], dataType: "String" },
          seal: { binaryValue: "AQID", stringListValues: [], binaryListValues: [], dataType: "Binary" },
        },
        md5OfBody: "5d41402abc4b2a76b9719d911017c592",
        md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
        eventSource: "aws:sqs",
        eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:deliveries.fifo",
        awsRegion: "us-east-1",
      },
    ]);
  });

  it("invokes the function it was given, with as many messages as a batch may have", async () => {
    const queue = await aQueue();
    for (const group of ["a", "b", "c"]) await queue.send(group, group);
    const calls: [string, number][] = [];
    await consume(queue, () => succeeded(), {
      batchSize: 2,
      invoke: async (name, payload) => {
        calls.push([name, (payload as SqsEvent).Records.length]);
        return succeeded();
      },
    });
    await untilEmpty(queue);
    expect(calls).toEqual([
      ["deliver", 2],
      ["deliver", 1],
    ]);
  });

  it("takes the messages of a group in order, each after the one before was deleted", async () => {
    const queue = await aQueue();
    for (const body of ["1", "2", "3"]) await queue.send(body);
    const { bodies } = await consume(queue, () => succeeded(), { concurrency: 2 });
    await untilEmpty(queue);
    expect(bodies()).toEqual([["1"], ["2"], ["3"]]);
  });

  it("works on a second group while a first one is still busy", async () => {
    const queue = await aQueue();
    await queue.send("slow", "run-a");
    const finish = aGate();
    const { bodies } = await consume(
      queue,
      async ({ Records }) => {
        if (Records[0]?.body === "slow") await finish.opened;
        return succeeded();
      },
      { concurrency: 2 },
    );
    await expect.poll(bodies, soon).toEqual([["slow"]]);
    await queue.send("quick", "run-b");
    await expect.poll(bodies, soon).toEqual([["slow"], ["quick"]]);
    finish.open();
    await untilEmpty(queue);
  });

  it("deletes what succeeded of a batch and gives only the rest to the function again", async () => {
    const queue = await aQueue({ visibilityTimeoutSeconds: 1 });
    for (const group of ["a", "b", "c"]) await queue.send(group, group);
    let failed = false;
    const { bodies, faults } = await consume(queue, ({ Records }) => {
      if (failed) return succeeded({ batchItemFailures: [] });
      failed = true;
      return reportFailed(Records.filter(({ body }) => body === "b"));
    });
    await untilEmpty(queue);
    expect(bodies()).toEqual([["a", "b", "c"], ["b"]]);
    expect(faults).toEqual([expect.stringContaining("it reported them as failed")]);
  });

  it("keeps a group in order behind a message that failed", async () => {
    const queue = await aQueue({ visibilityTimeoutSeconds: 1 });
    await queue.send("1");
    await queue.send("2");
    const answers = [reportFailed, () => succeeded(), () => succeeded()];
    const { bodies } = await consume(queue, ({ Records }) => answers.shift()?.(Records) ?? succeeded());
    await untilEmpty(queue);
    expect(bodies()).toEqual([["1"], ["1"], ["2"]]);
  });

  it.each([
    ["a function that throws", threw, "surefoot.final.deliver"],
    ["an identifier of another batch", succeeded({ batchItemFailures: [{ itemIdentifier: "other" }] }), "other"],
    ["an empty identifier", succeeded({ batchItemFailures: [{ itemIdentifier: "" }] }), "itemIdentifier"],
  ])("deletes nothing of a batch after %s", async (_what, answer, said) => {
    const queue = await aQueue({ visibilityTimeoutSeconds: 1 });
    await queue.send("a", "run-a");
    await queue.send("b", "run-b");
    const answers = [answer];
    const { events, faults } = await consume(queue, () => answers.shift() ?? succeeded());
    await untilEmpty(queue);

    const receives = events.flatMap(({ Records }) =>
      Records.map(({ body, attributes }) => `${body}${attributes.ApproximateReceiveCount}`),
    );
    expect(receives.sort()).toEqual(["a1", "a2", "b1", "b2"]);
    expect(faults).toEqual([expect.stringContaining(said)]);
  });

  it("leaves a message in the queue when the invocation itself breaks, and goes on", async () => {
    const queue = await aQueue({ visibilityTimeoutSeconds: 1 });
    await queue.send("m1");
    let calls = 0;
    const { faults } = await consume(queue, () => {
      calls += 1;
      return calls === 1 ? Promise.reject(new Error("pool is gone")) : succeeded();
    });
    await untilEmpty(queue);
    expect(calls).toBe(2);
    expect(faults).toEqual([expect.stringContaining("pool is gone")]);
  });

  it("gives up on a message that always fails: it ends in the dead letter queue", async () => {
    const queue = await aQueue({ visibilityTimeoutSeconds: 1, maxReceiveCount: 2 });
    await queue.send("poison");
    const { events } = await consume(queue, () => threw);
    await expect.poll(() => queue.counts("dead"), soon).toEqual({ waiting: 1, inFlight: 0 });
    expect(events).toHaveLength(2);
    expect(await queue.counts()).toEqual({ waiting: 0, inFlight: 0 });
  });

  it("finishes and deletes the batch in hand when it is stopped, and receives no more", async () => {
    const queue = await aQueue();
    await queue.send("1");
    await queue.send("2");
    const finish = aGate();
    const { source, bodies } = await consume(queue, () => finish.opened.then(() => succeeded()));
    await expect.poll(bodies, soon).toEqual([["1"]]);
    const stopped = source.stop();
    finish.open();
    await stopped;
    expect(bodies()).toEqual([["1"]]);
    expect(await queue.counts()).toEqual({ waiting: 1, inFlight: 0 });
  });

  it("leaves no poll behind when it is stopped: the next message goes to its next receiver", async () => {
    const queue = await aQueue();
    const { source } = await consume(queue, () => succeeded(), { concurrency: 2 });
    await source.stop();
    await queue.send("m1");
    const [message] = await queue.receive();
    expect(message?.Attributes?.ApproximateReceiveCount).toBe("1");
  });

  it("reports a queue that went away, and can still be stopped", async () => {
    const queue = await aQueue();
    const { source, faults } = await consume(queue, () => succeeded());
    await queue.sqs.stop();
    await expect.poll(() => faults[0], soon).toContain("cannot be reached");
    await source.stop();
  });

  it("refuses to start on a queue that does not exist", async () => {
    const queue = await aQueue();
    const elsewhere = { ...queue, queueUrl: `${queue.sqs.endpoint}/000000000000/none.fifo` };
    await expect(consume(elsewhere, () => succeeded())).rejects.toThrow("queue does not exist");
  });

  it("refuses a batch larger than SQS hands out", async () => {
    const { client, queueUrl } = await aQueue();
    const invoke = async () => succeeded();
    await expect(
      startEventSource({ client, queueUrl, functionName: "deliver", invoke, batchSize: 11 }),
    ).rejects.toThrow("batchSize from 1 to 10, found 11");
  });
});
