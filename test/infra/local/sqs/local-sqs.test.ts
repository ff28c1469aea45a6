import {
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { describe, expect, it, onTestFinished } from "vitest";
import { startLocalSqs } from "../../../../infra/local/sqs/local-sqs.ts";
import { aQueue, deliveries, sdkClient } from "./sqs-fixture.ts";

const bodiesOf = (messages: readonly { readonly Body?: string | undefined }[]) => messages.map(({ Body }) => Body);

describe("the local SQS", () => {
  it("creates each queue from its schema, and the dead letter queue it names", async () => {
    const { sqs, client } = await aQueue({ visibilityTimeoutSeconds: 70, maxReceiveCount: 4 });
    const attributesOf = async (name: string) => {
      const command = new GetQueueAttributesCommand({ QueueUrl: sqs.urlOf(name), AttributeNames: ["All"] });
      return (await client.send(command)).Attributes;
    };
    expect(await attributesOf("deliveries-dead.fifo")).toMatchObject({ FifoQueue: "true" });
    const { RedrivePolicy = "", ...attributes } = (await attributesOf("deliveries.fifo")) ?? {};
    expect(attributes).toMatchObject({
      QueueArn: "arn:aws:sqs:us-east-1:000000000000:deliveries.fifo",
      FifoQueue: "true",
      ContentBasedDeduplication: "false",
      VisibilityTimeout: "70",
    });
    expect(JSON.parse(RedrivePolicy)).toEqual({
      deadLetterTargetArn: "arn:aws:sqs:us-east-1:000000000000:deliveries-dead.fifo",
      maxReceiveCount: 4,
    });
  });

  it("lets two queues share a dead letter queue", async () => {
    const sqs = await startLocalSqs({ queues: [deliveries, { ...deliveries, name: "mail.fifo" }] });
    onTestFinished(sqs.stop);
    expect(new URL(sqs.urlOf("mail.fifo")).pathname).toBe("/000000000000/mail.fifo");
    expect(new URL(sqs.urlOf("deliveries-dead.fifo")).pathname).toBe("/000000000000/deliveries-dead.fifo");
  });

  it("names its queues on 127.0.0.1, in every answer", async () => {
    const { sqs, client } = await aQueue();
    const expected = `${sqs.endpoint}/000000000000/deliveries.fifo`;
    expect(sqs.endpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(sqs.urlOf("deliveries.fifo")).toBe(expected);
    const found = await client.send(new GetQueueUrlCommand({ QueueName: "deliveries.fifo" }));
    expect(found.QueueUrl).toBe(expected);
    const listed = await client.send(new ListQueuesCommand({ QueueNamePrefix: "deliveries.fifo" }));
    expect(listed.QueueUrls).toEqual([expected]);
  });

  it("is found by a client that knows nothing but the queue's URL", async () => {
    const queue = await aQueue();
    const client = sdkClient();
    onTestFinished(() => client.destroy());
    const QueueUrl = queue.queueUrl;
    await client.send(
      new SendMessageCommand({ QueueUrl, MessageBody: "m1", MessageGroupId: "g", MessageDeduplicationId: "m1" }),
    );
    expect(bodiesOf(await queue.receive())).toEqual(["m1"]);
  });

  it("says which queues there are when asked for another", async () => {
    const { sqs } = await aQueue();
    expect(() => sqs.urlOf("mail.fifo")).toThrow(
      "expected one of the queues deliveries-dead.fifo, deliveries.fifo, found mail.fifo",
    );
  });

  it.each([
    ["a name with a dot inside", { name: "mail.v2.fifo" }, "found mail.v2.fifo: rename it"],
    ["a name over 80 characters", { name: `${"a".repeat(76)}.fifo` }, "at most 80 letters"],
    ["a queue that is its own dead letter queue", { deadLetterName: "deliveries.fifo" }, "found itself"],
    ["a maxReceiveCount of 0", { maxReceiveCount: 0 }, "from 1 to 1000, found 0"],
    ["a visibility timeout over 12 hours", { visibilityTimeoutSeconds: 43_201 }, "VisibilityTimeout"],
  ] as const)("refuses %s, as SQS would", async (_what, changes, message) => {
    await expect(startLocalSqs({ queues: [{ ...deliveries, ...changes }] })).rejects.toThrow(message);
  });

  it("answers an open long poll when it is stopped, and then nobody", async () => {
    const queue = await aQueue();
    await queue.send("m1");
    const [held] = await queue.receive();
    const poll = queue.receive({ waitSeconds: 20 }).catch(() => []);
    await queue.counts(); // answered after the poll on the same server, so the poll is open
    await queue.sqs.stop();
    expect(await poll).toEqual([]);
    await expect(queue.remove(held)).rejects.toThrow();
  });
});

describe("a FIFO queue", () => {
  it("takes a deduplication id once, even after its message is gone", async () => {
    const queue = await aQueue();
    const first = await queue.send("m1", "run-1", "c5a7");
    const [message] = await queue.receive();
    await queue.remove(message);
    const again = await queue.send("m1, again", "run-1", "c5a7");
    expect(again).toBe(first);
    expect(await queue.counts()).toEqual({ waiting: 0, inFlight: 0 });
  });

  it("keeps two messages of the same text with two deduplication ids", async () => {
    const queue = await aQueue();
    await queue.send("same", "run-1", "c5a7");
    await queue.send("same", "run-2", "91ae");
    expect(bodiesOf(await queue.receive())).toEqual(["same", "same"]);
  });

  it("refuses a message without a deduplication id", async () => {
    const { client, queueUrl } = await aQueue();
    const command = new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: "m1", MessageGroupId: "run-1" });
    await expect(client.send(command)).rejects.toThrow("MessageDeduplicationId");
  });

  it("holds a group back while one of its messages is in flight, and no other group", async () => {
    const queue = await aQueue();
    await queue.send("a1", "run-a");
    await queue.send("a2", "run-a");
    const [a1] = await queue.receive();
    expect(a1?.Body).toBe("a1");

    await queue.send("b1", "run-b");
    expect(bodiesOf(await queue.receive())).toEqual(["b1"]);
    await queue.remove(a1);
    expect(bodiesOf(await queue.receive())).toEqual(["a2"]);
  });

  it("hands a message out again, ahead of its group, when its visibility timeout has passed", async () => {
    const queue = await aQueue({ visibilityTimeoutSeconds: 1 });
    await queue.send("m1");
    await queue.send("m2");
    const [first] = await queue.receive();
    expect(await queue.receive()).toEqual([]);
    const [second] = await queue.receive({ waitSeconds: 5 });
    expect(second).toMatchObject({ Body: "m1", MessageId: first?.MessageId });
    expect(second?.Attributes?.ApproximateReceiveCount).toBe("2");
    expect(second?.ReceiptHandle).not.toBe(first?.ReceiptHandle);
  });

  it("does not delete by a receipt handle from before a redelivery", async () => {
    const queue = await aQueue({ visibilityTimeoutSeconds: 1 });
    await queue.send("m1");
    const [lapsed] = await queue.receive();
    await queue.receive({ waitSeconds: 5 });
    await queue.remove(lapsed);
    expect(await queue.counts()).toEqual({ waiting: 0, inFlight: 1 });
  });

  it("moves a message to the dead letter queue at the receive after its last, and lets its group go on", async () => {
    const queue = await aQueue({ visibilityTimeoutSeconds: 1, maxReceiveCount: 2 });
    await queue.send("poison");
    await queue.send("m2");
    expect(bodiesOf(await queue.receive())).toEqual(["poison"]);
    expect(bodiesOf(await queue.receive({ waitSeconds: 5 }))).toEqual(["poison"]);
    expect(bodiesOf(await queue.receive({ waitSeconds: 5 }))).toEqual(["m2"]);
    expect(bodiesOf(await queue.receive({ queue: "dead" }))).toEqual(["poison"]);
  });
});
