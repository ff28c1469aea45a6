import { describe, expect, it } from "vitest";
import { minutes, seconds } from "../../../shared/index.ts";
import { deliveryQueueSettings } from "../../../shared/sqs/delivery-queue-settings.ts";
import { order, orderWorld } from "./order-world.ts";

const { visibilityTimeoutSeconds, receivesMax } = deliveryQueueSettings(120);
const send = { port: "queue" } as const;
const worker = { port: "lambda", ids: { function: "deliver" } } as const;

describe("a queued write", () => {
  it("is delivered by the worker, and the run goes on", async () => {
    const { engine, untilStatus } = await orderWorld({ side: "queue" });
    await untilStatus("SUCCEEDED");
    await engine.runUntilIdle();

    expect(engine.journal.effects("place_order", order.order)).toHaveLength(1);
    expect([engine.queue.messages, engine.queue.deadLetters]).toEqual([[], []]);
    expect(engine.trace.entries.filter(({ actor }) => actor === "queue")).toHaveLength(1);
  });

  it("that is sent twice is delivered twice and placed once", async () => {
    const { engine, untilStatus } = await orderWorld({
      side: "queue",
      faults: [{ at: send, fault: { kind: "duplicate" } }],
    });
    await untilStatus("SUCCEEDED");
    await engine.runUntilIdle();
    expect(engine.trace.entries.filter(({ actor }) => actor === "queue")).toHaveLength(2);
    expect(engine.journal.effects()).toHaveLength(1);
  });

  it("whose message never arrives is sent again by the sweep", async () => {
    const { engine, untilStatus } = await orderWorld({
      side: "queue",
      faults: [{ at: send, fault: { kind: "drop" } }],
    });
    await untilStatus("SUCCEEDED");
    const sends = engine.trace.entries.filter(({ port }) => port === "queue");
    expect(sends.map(({ actor, outcome }) => [actor.split("#")[0], outcome])).toEqual([
      ["step-order-agent", "ok"],
      ["sweep", "ok"],
    ]);
    expect(sends[1]?.atMs).toBeGreaterThanOrEqual(minutes(2));
    expect(engine.journal.effects()).toHaveLength(1);
  });

  it("whose worker dies comes back after its visibility timeout, on the world's time", async () => {
    const { engine, runId } = await orderWorld({
      side: "queue",
      faults: [{ at: { actor: "deliver", verb: "Get" }, fault: { kind: "crash_before" } }],
      sweepEveryMs: 0,
    });
    await engine.runUntilIdle();
    const handedOut = engine.trace.entries.filter(({ actor }) => actor === "queue");
    expect(handedOut.map(({ outcome }) => outcome)).toEqual(["Runtime.ExitError", "ok"]);
    expect((handedOut[1]?.atMs ?? 0) - (handedOut[0]?.atMs ?? 0)).toBe(seconds(visibilityTimeoutSeconds));
    expect(await engine.stored.operations(runId)).toMatchObject([{ status: "SUCCEEDED" }]);
  });

  it("that no worker can take lies among the dead letters after its last receive", async () => {
    const { engine } = await orderWorld({
      side: "queue",
      faults: [{ at: worker, fault: { kind: "error" }, times: receivesMax }],
      sweepEveryMs: 0,
    });
    await engine.runUntilIdle();
    expect(engine.queue.messages).toEqual([]);
    expect(engine.queue.deadLetters).toMatchObject([{ receives: receivesMax, group: order.order }]);
    expect(engine.journal.requests()).toEqual([]);
  });

  it("that its worker reports as failed is handed back, and seen again sooner", async () => {
    const { engine, untilStatus } = await orderWorld({
      side: "queue",
      faults: [{ at: { port: "lambda", verb: "Invoke", ids: { action: "deliver" } }, fault: { kind: "error" } }],
    });
    await untilStatus("SUCCEEDED");
    const handedBack = engine.trace.entries.find(({ verb }) => verb === "ChangeMessageVisibility");
    expect(handedBack).toMatchObject({ actor: "deliver#1", ids: { receipt: "message-1/1" }, outcome: "ok" });
    const handedOut = engine.trace.entries.filter(({ actor }) => actor === "queue").map(({ atMs }) => atMs);
    expect(handedOut).toEqual([0, seconds(10)]);
  });

  it("that is done with too late has been handed out again", async () => {
    const { engine } = await orderWorld({
      side: "queue",
      faults: [
        { at: { actor: "deliver", verb: "Get" }, fault: { kind: "zombie", ms: seconds(visibilityTimeoutSeconds) } },
      ],
      sweepEveryMs: 0,
    });
    await engine.runUntilIdle();
    expect(engine.trace.entries.filter(({ actor }) => actor === "queue")).toHaveLength(2);
    expect([engine.queue.messages, engine.journal.effects().length]).toEqual([[], 1]);
  });

  it("waits for the one before it in its group, and for no other group", async () => {
    const { engine } = await orderWorld({ side: "queue", sweepEveryMs: 0 });
    await engine.runUntilIdle();
    const start = (workflowId: string, order: string) =>
      engine.request("POST", "/runs", {
        agent: "order-agent",
        workflow_id: workflowId,
        input: { order, cents: 1 },
      });
    engine.inject({ at: worker, fault: { kind: "error" } });
    await start("task-2", "ORD-2");
    await engine.until(async () => engine.queue.messages.some(({ receives }) => receives === 1));
    await start("task-3", "ORD-2");
    await start("task-4", "ORD-4");
    await engine.runUntilIdle();

    const placed = engine.journal.effects().map(({ businessKey, atMs }) => [businessKey, atMs]);
    expect(placed).toEqual([
      ["ORD-1", 0],
      ["ORD-4", 0],
      ["ORD-2", seconds(visibilityTimeoutSeconds)],
      ["ORD-2", seconds(visibilityTimeoutSeconds)],
    ]);
  });
});

describe("a write that a person does", () => {
  it("waits for the person's word, by the code of the API", async () => {
    const { engine, runId, untilStatus, status } = await orderWorld({ side: "human" });
    await engine.runUntilIdle();
    expect(await status()).toBe("WAITING");
    const [entry] = await engine.stored.operations(runId);

    const resolution = { outcome: "succeeded", external_ref: "by-hand-1", evidence: "placed by phone", by: "kim" };
    const answer = await engine.request("POST", `/operations/${entry?.operation_id}/resolution`, resolution);
    expect(answer).toMatchObject({ status: 200, body: { changed: true, wake: "woken" } });
    await untilStatus("SUCCEEDED");
    expect(engine.journal.requests()).toEqual([]);
  });
});
