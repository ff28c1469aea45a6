import { describe, expect, it } from "vitest";
import { resolveOperation } from "../../../shared/run/resolve-operation.ts";
import { localTables } from "../../builders/local-tables.ts";
import { lapsedMs, sweepWorld, type SweepWorldOptions } from "../../builders/sweep-world.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

describe("a sweep, when the execution is gone", () => {
  const tables = localTables();

  /** The effect happened, its answer was not read, and nothing is left that would go on. */
  async function cutAfterTheCall(options: SweepWorldOptions) {
    const world = await sweepWorld(tables, options);
    world.dieAt({ when: "after", call: "tool.execute" });
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "died" });
    world.killExecution();
    expect(await world.verdict()).toBe("run RUNNING, 1 effects, operation STARTED");
    return world;
  }

  it("leaves an attempt alone whose lease is live", async () => {
    const world = await cutAfterTheCall({ side: "key" });
    world.clock.advance(59_000);
    expect(await world.sweep()).toMatchObject({ deeds: { nothing: 2 }, errors: 0, finished: true });
    expect(world.invoked).toEqual([]);
    expect(world.engine.names()).toEqual([`${world.runId}-1`]);
  });

  it("sends the same key again where the other side has keys, and the run finishes with one effect", async () => {
    const world = await cutAfterTheCall({ side: "key" });
    world.clock.advance(lapsedMs);
    expect(await world.sweep()).toMatchObject({ looked: 2, deeds: { reconciled: 1, resumed: 1 }, errors: 0 });
    expect(world.invoked).toEqual([
      `reconcile ${world.operationId} by arn:aws:lambda:us-east-1:000000000000:function:step-order-agent:7`,
    ]);
    expect(world.downstream.requests).toEqual([world.operationId, world.operationId]);
    expect(await world.go()).toMatchObject({ [`${world.runId}-2`]: "ended" });
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
    expect(world.downstream.requests).toHaveLength(2);
  });

  it("asks where the other side can be asked, and the run finishes with one request in all", async () => {
    const world = await cutAfterTheCall({ side: "query" });
    world.clock.advance(lapsedMs);
    expect(await world.sweep()).toMatchObject({ deeds: { reconciled: 1, resumed: 1 }, errors: 0 });
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
    expect(world.downstream).toMatchObject({ requests: [world.operationId], lookups: 1 });
    expect(await world.entry()).toMatchObject({ external_ref: "ref_1", resolution: { by: "reconciler" } });
  });

  it("marks it UNKNOWN where the other side can tell nothing; a person's word lets the run finish", async () => {
    const world = await cutAfterTheCall({ side: "none" });
    world.clock.advance(lapsedMs);
    expect(await world.sweep()).toMatchObject({ deeds: { reconciled: 1, resumed: 1 }, errors: 0 });
    expect(await world.go()).toMatchObject({ [`${world.runId}-2`]: "waits" });
    expect(await world.verdict()).toBe("run PARKED, 1 effects, operation UNKNOWN");
    expect(world.metrics.total("side_effect_unknown_total")).toBe(1);

    const said = { outcome: "succeeded", by: "kim", evidence: "seen in the shop", externalRef: "ref_1" } as const;
    const resolved = await resolveOperation(
      { ...said, operationId: world.operationId, expectedVersion: undefined, result: undefined },
      world.ports,
    );
    expect(resolved).toMatchObject({ changed: true, wake: "woken" });
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
    const tally = (await world.history()).steps.find(({ node }) => node === "tally");
    expect(tally?.output).toEqual({ json: '{"text":"placed as ref_1"}' });
  });

  it.each(["retry", "failed"] as const)(
    "goes on from the word %s without a second effect by itself",
    async (outcome) => {
      const world = await sweepWorld(tables, { side: "none" });
      world.downstream.next({ kind: "late_commit" });
      await world.go();
      expect(await world.verdict()).toBe("run PARKED, 0 effects, operation UNKNOWN");
      await resolveOperation(
        {
          ...{ outcome, by: "kim", evidence: "the shop has no such order" },
          ...{ operationId: world.operationId, expectedVersion: undefined, externalRef: undefined, result: undefined },
        },
        world.ports,
      );
      await world.go();
      expect(await world.verdict()).toBe(
        outcome === "retry"
          ? "run SUCCEEDED, 1 effects, operation SUCCEEDED"
          : "run FAILED, 0 effects, operation FAILED_FINAL",
      );
    },
  );

  it("at 23 hours still sends the same key, and the other side repeats its answer", async () => {
    const world = await cutAfterTheCall({ side: "key" });
    world.clock.advance(23 * hourMs);
    await world.sweep();
    await world.go();
    expect(world.downstream.requests).toEqual([world.operationId, world.operationId]);
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
    expect(world.metrics.total("idempotency_key_hit_total")).toBe(1);
  });

  it("at 25 hours sends nothing: a lookup decides", async () => {
    const world = await cutAfterTheCall({ side: "key_and_query" });
    world.clock.advance(25 * hourMs);
    await world.sweep();
    await world.go();
    expect(world.downstream).toMatchObject({ requests: [world.operationId], lookups: 1 });
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
  });

  it("at 25 hours sends nothing: without a lookup it is UNKNOWN", async () => {
    const world = await cutAfterTheCall({ side: "key" });
    world.clock.advance(25 * hourMs);
    await world.sweep();
    await world.go();
    expect(world.downstream.requests).toEqual([world.operationId]);
    expect(await world.verdict()).toBe("run PARKED, 1 effects, operation UNKNOWN");
    expect(await world.entry()).toMatchObject({
      error: { code: "outcome_unknown", message: expect.stringContaining("window has passed") as string },
    });
    // However often it is swept.
    await world.sweep();
    expect(world.downstream.requests).toEqual([world.operationId]);
  });

  it("takes up a run whose starter died before it started the execution, once, and not while that may still come", async () => {
    const world = await sweepWorld(tables);
    world.killExecution();
    world.clock.advance(59_999);
    expect(await world.sweep()).toMatchObject({ deeds: { nothing: 1 } });
    world.clock.advance(1);
    expect(await world.sweep()).toMatchObject({ deeds: { resumed: 1 } });
    expect(world.engine.names()).toEqual([`${world.runId}-1`, `${world.runId}-2`]);
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
    expect(await world.sweep()).toMatchObject({ looked: 0, deeds: {} });
  });

  it("leaves a run alone that a person has to mend first", async () => {
    const world = await sweepWorld(tables, { attempts: 1 });
    world.downstream.next({ kind: "refuse" });
    await world.go();
    await world.go();
    expect(await world.verdict()).toBe("run PARKED, 0 effects, operation FAILED_RETRYABLE");
    world.clock.advance(hourMs);
    expect(await world.sweep()).toMatchObject({ deeds: { nothing: 1 } });
    expect(world.engine.names()).toEqual([`${world.runId}-1`]);
  });
});

describe("a late commit", () => {
  const tables = localTables();

  it("at 98 minutes is waited for within the settle time: nothing replaces it, and the sweep finds it", async () => {
    const world = await sweepWorld(tables, { side: "query", settleMs: 2 * hourMs });
    world.downstream.next({ kind: "late_commit" });
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "later" });
    world.killExecution();
    for (let minute = 5; minute < 98; minute += 15) {
      world.clock.advance(15 * minuteMs);
      expect(await world.sweep()).toMatchObject({ errors: 0 });
      await world.go();
    }
    expect(await world.verdict()).toBe("run RUNNING, 0 effects, operation STARTED");
    world.downstream.landLate();
    expect(await world.sweep()).toMatchObject({ deeds: { reconciled: 1 }, errors: 0 });
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
    expect(world.downstream.requests).toEqual([world.operationId]);
  });

  it("at 98 minutes is found after a lookup that could not tell had made it UNKNOWN, and wakes the run", async () => {
    let answers = false;
    const world = await sweepWorld(tables, {
      side: "query",
      lookup: async () => (answers ? { found: { ref: "ref_1", amountCents: 4_200 } } : "cannot_tell"),
    });
    world.downstream.next({ kind: "late_commit" });
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "later" });
    world.clock.advance(3 * minuteMs);
    await world.go();
    expect(await world.verdict()).toBe("run PARKED, 0 effects, operation UNKNOWN");
    world.clock.advance(90 * minuteMs);
    expect(await world.sweep()).toMatchObject({ deeds: { nothing: 3 }, errors: 0 });

    world.clock.advance(5 * minuteMs);
    world.downstream.landLate();
    answers = true;
    expect(await world.sweep()).toMatchObject({ deeds: { reconciled: 1 }, errors: 0 });
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
    expect(world.downstream.requests).toEqual([world.operationId]);
  });
});
