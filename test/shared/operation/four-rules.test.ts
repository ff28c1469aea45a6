import { describe, expect, it } from "vitest";
import { z } from "zod";
import { dynamoLedgerStore } from "../../../shared/ledger/dynamo-ledger-store.ts";
import type { Behaviour } from "../../builders/downstream.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf, leaseMs, operationWorld, settleMs } from "../../builders/operation-world.ts";

describe("FAILED means that it did not happen", () => {
  const tables = localTables();

  const definite: readonly [string, Behaviour][] = [
    ["a refused connection", { kind: "refuse" }],
    ["a 503", { kind: "status", status: 503 }],
    ["a 429", { kind: "status", status: 429 }],
  ];
  it.each(definite)("on a first attempt, %s fails and the next claim sends it again", async (_what, behaviour) => {
    const world = await operationWorld(tables, { capability: "none" });
    world.downstream.next(behaviour);
    expect(await faultOf(world.enter())).toMatchObject({ failureClass: "retryable" });
    expect(await world.entry()).toMatchObject({ status: "FAILED_RETRYABLE", may_have_applied: false });
    await world.enter();
    expect(world.downstream.effects).toHaveLength(1);
    expect(await world.entry()).toMatchObject({ status: "SUCCEEDED", attempt: 2 });
  });

  it("on a first attempt, a 400 fails for good, and a re-entry says so without sending", async () => {
    const world = await operationWorld(tables);
    world.downstream.next({ kind: "status", status: 400 });
    expect(await faultOf(world.enter())).toMatchObject({ code: "http_400", failureClass: "final" });
    expect(await faultOf(world.enter())).toMatchObject({ code: "http_400", failureClass: "final" });
    expect(await world.entry()).toMatchObject({ status: "FAILED_FINAL" });
    expect(world.downstream.requests).toHaveLength(1);
  });

  it.each(definite)("after an attempt that may have applied, %s leaves the doubt", async (_what, behaviour) => {
    const world = await operationWorld(tables);
    world.downstream.next({ kind: "drop_response" }, behaviour);
    expect(await faultOf(world.enter())).toMatchObject({ code: "operation_in_doubt", failureClass: "retryable" });
    expect(await faultOf(world.enter())).toMatchObject({ code: "operation_in_doubt", failureClass: "retryable" });
    expect(await world.entry()).toMatchObject({ status: "STARTED", may_have_applied: true, attempt: 2 });
    await world.enter();
    expect(await world.entry()).toMatchObject({ status: "SUCCEEDED", external_ref: "ref_1", attempt: 3 });
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("after an attempt that may have applied, a 400 ends in UNKNOWN, never in FAILED", async () => {
    const world = await operationWorld(tables);
    world.downstream.next({ kind: "drop_response" }, { kind: "status", status: 400 });
    await faultOf(world.enter());
    expect(await faultOf(world.enter())).toMatchObject({ name: "OperationUnknown" });
    expect(await world.entry()).toMatchObject({ status: "UNKNOWN", may_have_applied: true });
    expect(await faultOf(world.enter())).toMatchObject({ name: "OperationUnknown" });
    expect(world.downstream.requests).toHaveLength(2);
    expect(world.metrics.total("side_effect_unknown_total")).toBe(1);
  });

  it("after an attempt that may have applied, a 400 is looked up where the tool has a lookup", async () => {
    const world = await operationWorld(tables, { keyLookup: true });
    world.downstream.next({ kind: "drop_response" }, { kind: "status", status: 400 });
    await faultOf(world.enter());
    expect(await faultOf(world.enter())).toMatchObject({ code: "settling" });
    await world.enter();
    expect(await world.entry()).toMatchObject({ status: "SUCCEEDED", external_ref: "ref_1" });
  });
});

describe("preconditions run only while nothing may have been sent", () => {
  const tables = localTables();

  /** True until the effect is there: the effect itself falsifies it. */
  async function notYetPlaced(capability: "key" | "query") {
    let asked = 0;
    const world = await operationWorld(tables, {
      capability,
      precondition: () => {
        asked++;
        return world.downstream.effects.length === 0 || "it was placed already";
      },
    });
    return { world, asked: () => asked };
  }

  it("not after a lost answer: the effect's own success does not stop its replay", async () => {
    const { world, asked } = await notYetPlaced("key");
    world.downstream.next({ kind: "drop_response" });
    await faultOf(world.enter());
    await world.enter();
    expect(asked()).toBe(1);
    expect(world.downstream.effects).toHaveLength(1);
    expect((await world.entry())?.status).toBe("SUCCEEDED");
  });

  it.each(["key", "query"] as const)("not after a crash that may have sent, by %s", async (capability) => {
    const { world, asked } = await notYetPlaced(capability);
    await faultOf(world.enter({ crash: { when: "after", call: "tool.execute" } }));
    world.clock.advance(leaseMs + settleMs);
    await world.enter();
    expect(asked()).toBe(1);
    expect((await world.entry())?.status).toBe("SUCCEEDED");
  });

  it("again after a definite failure, since the world may have changed meanwhile", async () => {
    const { world, asked } = await notYetPlaced("key");
    world.downstream.next({ kind: "status", status: 503 });
    await faultOf(world.enter());
    await world.enter();
    expect(asked()).toBe(2);
  });

  it("again once a lookup has proved that nothing happened", async () => {
    const { world, asked } = await notYetPlaced("query");
    await faultOf(world.enter({ crash: { when: "before", call: "tool.execute" } }));
    world.clock.advance(leaseMs + settleMs);
    await world.enter();
    expect(asked()).toBe(2);
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("and one that does not hold sends and claims nothing", async () => {
    const world = await operationWorld(tables, { precondition: () => "0 cents are left" });
    expect(await faultOf(world.enter())).toMatchObject({ code: "precondition_failed", failureClass: "final" });
    expect(await world.entry()).toBeUndefined();
    expect(world.downstream.requests).toEqual([]);
  });
});

describe("a late success always counts", () => {
  const tables = localTables();

  it("although a lookup had found nothing meanwhile, and the contradiction is shown", async () => {
    const world = await operationWorld(tables, { capability: "query", attempts: 1 });
    world.downstream.next({
      kind: "held",
      // This process was paused over its lease; another one has looked, and found nothing.
      run: async () => {
        world.clock.advance(leaseMs + settleMs);
        expect(await faultOf(world.enter())).toMatchObject({ code: "retry_exhausted" });
      },
    });
    await world.enter({ paused: true });
    const zombie = await world.entry();
    expect(zombie).toMatchObject({ status: "SUCCEEDED", external_ref: "ref_1" });
    expect(zombie?.contradictions).toMatchObject([{ kind: "late_success", status_then: "FAILED_RETRYABLE" }]);
    expect(world.metrics.total("side_effect_conflict_total")).toBe(1);
    expect((await world.enter()).output).toEqual({ json: '{"amountCents":4200,"ref":"ref_1"}' });
  });

  it("as an answer to UNKNOWN, without a contradiction", async () => {
    const world = await operationWorld(tables, { capability: "none" });
    world.downstream.next({
      kind: "held",
      run: async () => {
        world.clock.advance(leaseMs);
        expect(await faultOf(world.enter())).toMatchObject({ name: "OperationUnknown" });
      },
    });
    await world.enter({ paused: true });
    const zombie = await world.entry();
    expect(zombie).toMatchObject({ status: "SUCCEEDED", external_ref: "ref_1" });
    expect(zombie?.contradictions).toBeUndefined();
    expect(world.metrics.total("side_effect_conflict_total")).toBe(0);
  });

  it("and a second, different one is detected, logged and kept", async () => {
    const world = await operationWorld(tables, { capability: "query" });
    world.downstream.next({
      kind: "held",
      run: async () => {
        world.clock.advance(leaseMs + settleMs);
        await world.enter();
      },
    });
    await world.enter({ paused: true });
    const entry = await world.entry();
    expect(world.downstream.effects).toHaveLength(2);
    expect(entry).toMatchObject({
      status: "SUCCEEDED",
      external_ref: "ref_1",
      contradictions: [{ kind: "second_success", external_ref: "ref_2" }],
    });
    expect(world.metrics.total("side_effect_duplicate_detected_total")).toBe(1);
    expect(world.logger.lines.filter(({ level }) => level === "error")).toMatchObject([
      { message: "a second, different success for one operation", fields: { operation_id: world.operationId } },
    ]);
  });

  it("and the same one, replayed by the other side, is no second", async () => {
    const world = await operationWorld(tables);
    world.downstream.next({
      kind: "held",
      run: async () => {
        world.clock.advance(leaseMs);
        await world.enter();
      },
    });
    await world.enter({ paused: true });
    const entry = await world.entry();
    expect(world.downstream.effects).toHaveLength(1);
    expect(entry).toMatchObject({ status: "SUCCEEDED", attempt: 2, external_ref: "ref_1" });
    expect(entry?.contradictions).toBeUndefined();
    expect(world.metrics.total("side_effect_duplicate_detected_total")).toBe(0);
  });
});

describe("a crash of the tool's code is unknown, not failed", () => {
  const tables = localTables();

  it.each([true, false])("whether it had sent (%s) or not", async (sent) => {
    const world = await operationWorld(tables, { capability: "none" });
    world.downstream.next({ kind: "throw", sent });
    expect(await faultOf(world.enter())).toMatchObject({ name: "OperationUnknown", failureClass: "unknown" });
    expect(await world.entry()).toMatchObject({ status: "UNKNOWN", may_have_applied: true });
    expect(world.downstream.effects).toHaveLength(sent ? 1 : 0);
    expect(world.metrics.total("side_effect_unknown_total")).toBe(1);
  });

  it.each([500, 502, 504, 408, 409, 302])("and so is a %i", async (status) => {
    const world = await operationWorld(tables, { capability: "none" });
    world.downstream.next({ kind: "status", status });
    expect(await faultOf(world.enter())).toMatchObject({ name: "OperationUnknown" });
    expect((await world.entry())?.status).toBe("UNKNOWN");
  });

  const Any = z.unknown();
  it.each([
    ["an answer that does not fit the tool's schema", {}, { ref: 7 }],
    ["an answer that JSON cannot carry", { output: Any, externalRef: () => "ref" }, undefined],
    [
      "an answer without the reference that the tool reads from it",
      { output: Any, externalRef: (result: unknown) => (result as { id: { text: string } }).id.text },
      {},
    ],
  ])("and so is %s: the other side said yes", async (_what, options, answer) => {
    const world = await operationWorld(tables, { capability: "none", ...options });
    world.downstream.next({ kind: "answer", answer });
    expect(await faultOf(world.enter())).toMatchObject({ name: "OperationUnknown" });
    expect(await world.entry()).toMatchObject({ status: "UNKNOWN", error: { code: "result_schema" } });
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("and what a lookup found in a shape that cannot be kept is unknown too", async () => {
    const foreign = { found: { ref: 7 } } as never;
    const world = await operationWorld(tables, { capability: "query", lookup: async () => foreign });
    world.downstream.next({ kind: "drop_response" });
    await faultOf(world.enter());
    expect(await faultOf(world.enter())).toMatchObject({ name: "OperationUnknown" });
    expect(await world.entry()).toMatchObject({ status: "UNKNOWN", error: { code: "outcome_unknown" } });
  });

  it("and a stored result that no longer parses is an error, never other data", async () => {
    const world = await operationWorld(tables);
    await world.enter();
    const stored = await world.entry();
    if (!stored) throw new Error("it was just written");
    const raw = dynamoLedgerStore(tables.client(), "ledger");
    await raw.replace({ ...stored, result: { json: '{"ref":7}' } }, { status: "SUCCEEDED", version: stored.version });
    expect(await faultOf(world.enter())).toMatchObject({ name: "RecordCorrupt", code: "record_corrupt" });
    expect(world.downstream.requests).toHaveLength(1);
  });
});
