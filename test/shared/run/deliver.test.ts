import { describe, expect, it } from "vitest";
import { cancelRun } from "../../../shared/run/cancel-run.ts";
import { resolveOperation } from "../../../shared/run/resolve-operation.ts";
import { localTables } from "../../builders/local-tables.ts";
import { seededRandom } from "../../../infra/local/seeded-random.ts";
import { lapsedMs, sweepWorld, type SweepWorld } from "../../builders/sweep-world.ts";

const done = { batchItemFailures: [] };
const failed = { batchItemFailures: [{ itemIdentifier: "message-0" }] };

describe("a queued write", () => {
  const tables = localTables();

  /** Its request is on its way, and the run waits. */
  async function handedOut(over: { readonly attempts?: number } = {}): Promise<SweepWorld> {
    const world = await sweepWorld(tables, { side: "queue", ...over });
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "waits" });
    return world;
  }

  it("is PENDING before it is sent, and the run waits for the ledger", async () => {
    const world = await sweepWorld(tables, { side: "queue" });
    world.dieAt({ when: "after", call: "ledger.propose" });
    await world.go();
    expect(world.queue.sent).toEqual([]);
    expect(await world.entry()).toMatchObject({ status: "PENDING", delivery: "queue", attempt: 0 });
    await world.go();
    expect(world.queue.sent).toEqual([{ operationId: world.operationId, group: world.input.order, attempt: 0 }]);
    expect(await world.verdict()).toBe("run WAITING, 0 effects, operation PENDING");
    expect(await world.entry()).toMatchObject({ version: 1 });
  });

  it("is delivered by its own function version, and its run goes on with the result", async () => {
    const world = await handedOut();
    expect(await world.deliver([world.message()])).toEqual(done);
    expect(world.invoked).toEqual([
      `deliver ${world.operationId} by arn:aws:lambda:us-east-1:000000000000:function:step-order-agent:7`,
    ]);
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
    expect(world.downstream.requests).toEqual([world.operationId]);
  });

  it.each([1, 2, 3, 4, 5])("delivered three times in random order has one effect (seed %i)", async (seed) => {
    const random = seededRandom(seed);
    const worlds = [await handedOut(), await handedOut(), await handedOut()];
    const deliveries = worlds
      .flatMap((world) => [1, 2, 3].map((receives) => ({ world, receives, key: random() })))
      .sort((a, b) => a.key - b.key);
    await Promise.all([
      // Two workers, each one message at a time.
      (async () => {
        for (const { world, receives } of deliveries.slice(0, 5)) await world.deliver([world.message(receives)]);
      })(),
      (async () => {
        for (const { world, receives } of deliveries.slice(5)) await world.deliver([world.message(receives)]);
      })(),
    ]);
    for (const world of worlds) {
      await world.go();
      expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
      expect(world.downstream.requests).toHaveLength(1);
    }
  });

  it("whose worker is at it goes back to the queue: a live lease is somebody else's", async () => {
    const world = await handedOut();
    world.dieAt({ when: "after", call: "tool.execute" });
    expect(await world.deliver([world.message()])).toEqual(failed);
    expect(await world.deliver([world.message(2)])).toEqual(failed);
    expect(await world.verdict()).toBe("run WAITING, 1 effects, operation STARTED");
    expect(world.downstream.requests).toHaveLength(1);
  });

  it("whose worker died at it is UNKNOWN at the next receive: the run parks until a person says what happened", async () => {
    const world = await handedOut();
    world.dieAt({ when: "after", call: "tool.execute" });
    await world.deliver([world.message()]);
    world.clock.advance(lapsedMs);
    expect(await world.deliver([world.message(2)])).toEqual(done);
    await world.go();
    expect(await world.verdict()).toBe("run PARKED, 1 effects, operation UNKNOWN");
    expect(world.downstream.requests).toHaveLength(1);
    expect((await world.history()).waiters).toMatchObject([{ kind: "resolution", status: "OPEN" }]);

    // Whoever brings the message once more asks nobody a second time.
    const { moves } = world.engine;
    expect(await world.deliver([world.message(3)])).toEqual(done);
    await world.go();
    expect(world.engine.moves).toBe(moves + 1);
    expect((await world.history()).failures).toMatchObject([{ attempts: 1 }]);

    const said = { outcome: "succeeded", by: "kim", evidence: "the shop has it", externalRef: "ref_1" } as const;
    await resolveOperation(
      { ...said, operationId: world.operationId, expectedVersion: undefined, result: undefined },
      world.ports,
    );
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
  });

  it("whose worker died at it is found by the sweep too, when no message is left", async () => {
    const world = await handedOut();
    world.dieAt({ when: "after", call: "tool.execute" });
    await world.deliver([world.message()]);
    world.clock.advance(lapsedMs);
    expect(await world.sweep()).toMatchObject({ deeds: { reconciled: 1 }, errors: 0 });
    await world.go();
    expect(await world.verdict()).toBe("run PARKED, 1 effects, operation UNKNOWN");
  });

  it("that was refused goes out again as another message, while the run waits and does not go round", async () => {
    const world = await handedOut();
    world.downstream.next({ kind: "refuse" });
    expect(await world.deliver([world.message()])).toEqual(done);
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "waits" });
    expect(world.queue.sent.map(({ attempt }) => attempt)).toEqual([0, 1]);
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "waits" });
    expect(world.queue.sent).toHaveLength(2);

    expect(await world.deliver([world.message()])).toEqual(done);
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
  });

  it("for which the other side asked for patience goes out again only then", async () => {
    const world = await handedOut();
    world.downstream.next({ kind: "status", status: 429, retryAfterSeconds: 600 });
    await world.deliver([world.message()]);
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "later" });
    expect(world.queue.sent).toHaveLength(1);
    world.clock.advance(600_000);
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "waits" });
    expect(world.queue.sent.map(({ attempt }) => attempt)).toEqual([0, 1]);
  });

  it("that is refused as often as it may be parks its run, with the failure", async () => {
    const world = await handedOut({ attempts: 2 });
    for (let attempt = 0; attempt < 2; attempt++) {
      world.downstream.next({ kind: "refuse" });
      await world.deliver([world.message()]);
      await world.go();
    }
    expect(await world.verdict()).toBe("run PARKED, 0 effects, operation FAILED_RETRYABLE");
    expect((await world.history()).run.failure).toMatchObject({ error: { code: "retry_exhausted" } });
    expect(world.queue.sent).toHaveLength(2);
  });

  it("whose last receive fails parks its run as undeliverable, and is not sent again by the sweep", async () => {
    const world = await handedOut();
    world.dieAt({ when: "before", call: "ledger.claim" });
    expect(await world.deliver([world.message(5)])).toEqual(failed);
    await world.go();
    expect(await world.verdict()).toBe("run PARKED, 0 effects, operation PENDING");
    expect((await world.history()).run.failure).toMatchObject({ node: "place", error: { code: "undeliverable" } });
    world.clock.advance(600_000);
    expect(await world.sweep()).toMatchObject({ deeds: { nothing: 2 }, errors: 0 });
    expect(world.queue.sent).toHaveLength(1);
  });

  it("whose run gave up on it while an attempt was under way goes on once a person says what became of it", async () => {
    const world = await handedOut();
    world.dieAt({ when: "after", call: "tool.execute" });
    expect(await world.deliver([world.message(5)])).toEqual(failed);
    await world.go();
    expect(await world.verdict()).toBe("run PARKED, 1 effects, operation STARTED");
    world.clock.advance(lapsedMs);
    expect(await world.sweep()).toMatchObject({ deeds: { reconciled: 1 }, errors: 0 });
    await world.go();
    expect(await world.verdict()).toBe("run PARKED, 1 effects, operation UNKNOWN");
    expect((await world.history()).waiters).toMatchObject([{ kind: "resolution", status: "OPEN" }]);
    const said = { outcome: "succeeded", by: "kim", evidence: "the shop has it", externalRef: "ref_1" } as const;
    await resolveOperation(
      { ...said, operationId: world.operationId, expectedVersion: undefined, result: undefined },
      world.ports,
    );
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
  });

  it("is done with once its run was cancelled: nothing is sent and nothing comes to the dead letter queue", async () => {
    const world = await handedOut();
    await cancelRun(world.runId, "kim", world.ports);
    expect(await world.deliver([world.message(5)])).toEqual(done);
    world.clock.advance(600_000);
    await world.sweep();
    expect(world.queue.sent).toHaveLength(1);
    expect(await world.verdict()).toBe("run CANCELLED, 0 effects, operation PENDING");
    expect((await world.history()).failures).toEqual([]);
  });

  it("whose message was lost is sent again by the sweep after two minutes, not before", async () => {
    const world = await handedOut();
    world.clock.advance(120_000);
    expect(await world.sweep()).toMatchObject({ deeds: { nothing: 3 } });
    world.clock.advance(1);
    expect(await world.sweep()).toMatchObject({ deeds: { resent: 1, nothing: 2 } });
    expect(world.queue.sent).toEqual(
      [0, 0].map((attempt) => ({ operationId: world.operationId, group: world.input.order, attempt })),
    );
    await world.deliver([world.message()]);
    await world.deliver([world.message(2)]);
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
  });

  it("is not sent by the sweep while its approval is open, nor is the approval touched", async () => {
    const world = await sweepWorld(tables, { side: "queue", approval: true });
    await world.go();
    expect(await world.entry()).toMatchObject({ status: "PENDING", delivery: "queue" });
    world.clock.advance(3_600_000);
    expect(await world.sweep()).toMatchObject({ deeds: { nothing: 3 }, errors: 0 });
    expect(world.queue.sent).toEqual([]);
    expect((await world.history()).waiters).toMatchObject([{ kind: "approval", status: "OPEN" }]);
  });

  it("of which nothing is known, or that is no message at all, is left to the dead letter queue", async () => {
    const world = await handedOut();
    const answer = await world.deliver([
      { body: "poison" },
      { body: "{}" },
      { body: JSON.stringify({ operation_id: "0123456789abcdef0123456789abcdef" }) },
      world.message(),
    ]);
    expect(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual([
      "message-0",
      "message-1",
      "message-2",
    ]);
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
    expect(JSON.stringify(world.logger.lines)).not.toContain("poison");
  });
});

describe("a write that a person does", () => {
  const tables = localTables();
  const word = { outcome: "succeeded", by: "kim", evidence: "I did it by phone" } as const;

  it("is PENDING with its frozen request until the person's reference finishes the run", async () => {
    const world = await sweepWorld(tables, { side: "human" });
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "waits" });
    expect(await world.verdict()).toBe("run WAITING, 0 effects, operation PENDING");
    expect(world.queue.sent).toEqual([]);
    expect((await world.entry()).request).toEqual({
      json: `{"amountCents":4200,"order":"${world.input.order}"}`,
    });
    world.clock.advance(86_400_000);
    expect(await world.sweep()).toMatchObject({ deeds: { nothing: 3 }, errors: 0 });

    const resolved = await resolveOperation(
      {
        ...word,
        ...{ operationId: world.operationId, expectedVersion: 1, externalRef: "PHONE-17", result: undefined },
      },
      world.ports,
    );
    expect(resolved).toMatchObject({ changed: true, wake: "woken" });
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 0 effects, operation SUCCEEDED");
    const tally = (await world.history()).steps.find(({ node }) => node === "tally");
    expect(tally?.output).toEqual({ json: '{"text":"placed as PHONE-17"}' });
  });

  it("takes no word before its approval let it be handed out, and none to retry what was never tried", async () => {
    const world = await sweepWorld(tables, { side: "human", approval: true });
    await world.go();
    const request = {
      ...{ ...word, operationId: world.operationId, expectedVersion: undefined },
      ...{ externalRef: "PHONE-17", result: undefined },
    };
    await expect(resolveOperation(request, world.ports)).rejects.toMatchObject({ code: "not_asked", status: 409 });
    await expect(resolveOperation({ ...request, outcome: "retry" }, world.ports)).rejects.toMatchObject({
      code: "nothing_to_retry",
      status: 400,
    });
    expect(await world.entry()).toMatchObject({ status: "PENDING", version: 1 });
  });
});
