import { describe, expect, it, onTestFinished } from "vitest";
import { createDeliverHandler } from "../../lambdas/deliver/deliver-handler.ts";
import { deliverAgain } from "../../infra/local/sqs/deliver-again.ts";
import { startEventSource } from "../../infra/local/sqs/event-source.ts";
import { sqsDeliveryQueue } from "../../shared/sqs/sqs-delivery-queue.ts";
import { sqsMessagesInHand } from "../../shared/sqs/sqs-messages-in-hand.ts";
import { localTables } from "../builders/local-tables.ts";
import { type SweepWorld, sweepWorld } from "../builders/sweep-world.ts";
import { aQueue, soon } from "../infra/local/sqs/sqs-fixture.ts";

describe("the worker of the delivery queue, on SQS", () => {
  const tables = localTables();

  it("brings each of three messages, delivered three times in random order, to one effect, and only the poison to the dead letter queue", async () => {
    const queue = await aQueue({ maxReceiveCount: 2 });
    const inHand = sqsMessagesInHand(queue.client, queue.queueUrl);
    const atOnce = { handBack: (receipt: string) => inHand.handBack(receipt, 0) };
    const sender = sqsDeliveryQueue(queue.client, queue.queueUrl);
    const worlds: SweepWorld[] = [];
    for (let n = 0; n < 3; n++) {
      const world = await sweepWorld(tables, { side: "queue" });
      await world.go();
      for (const delivery of world.queue.sent) await sender.send(delivery);
      worlds.push(world);
    }
    await queue.send("poison", "poisoned");

    // One world's operation is another world's unknown message: each handler is asked, and one of them knows it.
    const handlers = worlds.map((world) => ({ world, handler: createDeliverHandler(2, world.ports, atOnce) }));
    const source = await startEventSource({
      client: queue.client,
      queueUrl: queue.queueUrl,
      functionName: "deliver",
      batchSize: 1,
      concurrency: 1,
      invoke: deliverAgain(
        async (_name, payload) => {
          const { body = "" } = (payload as { Records: readonly { body: string }[] }).Records[0] ?? {};
          const own = handlers.find(({ world }) => body.includes(world.operationId)) ?? handlers[0];
          return { ok: true, payload: await own?.handler(payload) };
        },
        { times: 3, seed: 7 },
      ),
    });
    onTestFinished(() => source.stop());

    await expect.poll(() => queue.counts("dead"), soon).toEqual({ waiting: 1, inFlight: 0 });
    await expect.poll(() => queue.counts(), soon).toEqual({ waiting: 0, inFlight: 0 });
    const [dead] = await queue.receive({ queue: "dead" });
    expect(dead?.Body).toBe("poison");
    for (const world of worlds) {
      await world.go();
      expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
      expect(world.downstream.requests).toEqual([world.operationId]);
    }
  });

  it("is sent the operation as deduplication id and the business key as group; another attempt is another message", async () => {
    const queue = await aQueue();
    const sender = sqsDeliveryQueue(queue.client, queue.queueUrl);
    await sender.send({ operationId: "op-1", group: "ORD-1", attempt: 0 });
    await sender.send({ operationId: "op-1", group: "ORD-1", attempt: 0 });
    expect(await queue.counts()).toEqual({ waiting: 1, inFlight: 0 });
    const [first] = await queue.receive();
    expect(first).toMatchObject({
      Body: '{"operation_id":"op-1"}',
      Attributes: { MessageDeduplicationId: "op-1", MessageGroupId: "ORD-1" },
    });
    await queue.remove(first);
    await sender.send({ operationId: "op-1", group: "ORD-1", attempt: 1 });
    const [second] = await queue.receive();
    expect(second?.Attributes).toMatchObject({ MessageDeduplicationId: "op-1-1" });
  });

  it.each(["Bestellung für Müller", "x".repeat(129)])(
    "is sent a business key that SQS refuses as its digest: %s",
    async (group) => {
      const queue = await aQueue();
      await sqsDeliveryQueue(queue.client, queue.queueUrl).send({ operationId: "op-1", group, attempt: 0 });
      const [message] = await queue.receive();
      expect(message?.Attributes?.["MessageGroupId"]).toMatch(/^[0-9a-f]{64}$/u);
    },
  );

  it("hands a message back that could not be delivered: later each time, at a live lease's end, and the last time at once", async () => {
    const world = await sweepWorld(tables, { side: "queue" });
    await world.go();
    const handedBack: [receipt: string, seconds: number][] = [];
    const handler = createDeliverHandler(5, world.ports, {
      handBack: async (...handed) => void handedBack.push(handed),
    });
    const receive = (receives: number, { body } = world.message()) =>
      handler({
        Records: [
          {
            messageId: "message-1",
            receiptHandle: `receipt-${receives}`,
            body,
            attributes: { ApproximateReceiveCount: String(receives) },
          },
        ],
      });

    for (const receives of [1, 2, 3, 4, 5]) await receive(receives, { body: "poison", receives });
    world.dieAt({ when: "before", call: "ledger.claim" });
    await receive(1);
    world.dieAt({ when: "after", call: "tool.execute" });
    await receive(2);
    world.clock.advance(30_500);
    await receive(3);
    expect(handedBack).toEqual([
      ["receipt-1", 10],
      ["receipt-2", 30],
      ["receipt-3", 90],
      ["receipt-4", 270],
      ["receipt-5", 0],
      ["receipt-1", 10],
      // An invocation lives for 60 s, its lease one longer.
      ["receipt-2", 62],
      ["receipt-3", 32],
    ]);
    world.clock.advance(31_000);
    expect(await receive(4)).toEqual({ batchItemFailures: [] });
    expect((await world.entry()).status).toBe("UNKNOWN");
  });

  it("leaves a message to the queue's own time where it cannot be handed back, and says so", async () => {
    const queue = await aQueue({ visibilityTimeoutSeconds: 1, maxReceiveCount: 2 });
    const world = await sweepWorld(tables, { side: "queue" });
    await queue.send("poison");
    const gone = sqsMessagesInHand(queue.client, `${queue.queueUrl}-gone`);
    const handler = createDeliverHandler(2, world.ports, gone);
    const [message] = await queue.receive();
    const { MessageId: messageId, ReceiptHandle: receiptHandle, Body: body, Attributes: attributes } = message ?? {};
    expect(await handler({ Records: [{ messageId, receiptHandle, body, attributes }] })).toEqual({
      batchItemFailures: [{ itemIdentifier: messageId }],
    });
    expect(world.logger.lines.map((line) => line.message)).toContain("left to the queue's own time");
    expect(await queue.receive({ waitSeconds: 10 })).toMatchObject([{ Attributes: { ApproximateReceiveCount: "2" } }]);
  });

  it("is received again when it was said, not when the queue would say so", async () => {
    const queue = await aQueue({ visibilityTimeoutSeconds: 600 });
    await queue.send("one");
    const [message] = await queue.receive();
    expect(await queue.receive()).toEqual([]);
    await sqsMessagesInHand(queue.client, queue.queueUrl).handBack(message?.ReceiptHandle ?? "", 0);
    expect(await queue.receive()).toMatchObject([{ Body: "one", Attributes: { ApproximateReceiveCount: "2" } }]);
  });
});
