import { describe, expect, it } from "vitest";
import { minutes } from "../../../shared/index.ts";
import { isWrite, refuse } from "../../builders/dynamo-proxy.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf, operationWorld, settleMs } from "../../builders/operation-world.ts";

describe("a key is sent again only while the other side surely remembers it", () => {
  const tables = localTables();
  const day = 24 * 3_600_000;
  const margin = 5 * 60_000;

  async function inDoubt(options: Parameters<typeof operationWorld>[1] = {}) {
    const world = await operationWorld(tables, options);
    world.downstream.next({ kind: "drop_response" });
    await faultOf(world.enter());
    return world;
  }

  it("within the window: one effect, the first answer", async () => {
    const world = await inDoubt();
    world.clock.advance(day - margin - 1);
    await world.enter();
    expect(world.downstream.effects).toHaveLength(1);
    expect(await world.entry()).toMatchObject({
      status: "SUCCEEDED",
      external_ref: "ref_1",
      first_sent_at: "2026-09-02T12:00:00.000Z",
    });
  });

  it("not after it: the key would be a new request, so the outcome is unknown", async () => {
    const world = await inDoubt();
    world.clock.advance(day - margin);
    expect(await faultOf(world.enter())).toMatchObject({ name: "OperationUnknown" });
    expect(world.downstream.requests).toHaveLength(1);
    expect((await world.entry())?.status).toBe("UNKNOWN");
  });

  it("after it, a lookup finds it where the tool has one", async () => {
    const world = await inDoubt({ keyLookup: true });
    world.clock.advance(day);
    await world.enter();
    expect(world.downstream.lookups).toBe(1);
    expect(world.downstream.requests).toHaveLength(1);
    expect(await world.entry()).toMatchObject({ status: "SUCCEEDED", external_ref: "ref_1" });
  });

  it("after it, a lookup that finds nothing starts a new window", async () => {
    const world = await operationWorld(tables, { keyLookup: true });
    world.downstream.next({ kind: "late_commit" });
    await faultOf(world.enter());
    world.clock.advance(day);
    await world.enter();
    expect(await world.entry()).toMatchObject({ status: "SUCCEEDED", first_sent_at: "2026-09-03T12:00:00.000Z" });
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("also when the process was paused between its claim and its call", async () => {
    const world = await inDoubt({ window: minutes(1) });
    world.clock.advance(50_000);
    const claims = (request: { readonly item: Readonly<Record<string, unknown>> }) =>
      request.item["operation_id"] === world.operationId && request.item["attempt"] === 2;
    world.proxy.on(claims, { after: () => world.clock.advance(10_000) });
    expect(await faultOf(world.enter())).toMatchObject({ name: "OperationUnknown" });
    expect(world.downstream.requests).toHaveLength(1);
  });
});

describe("the deadline", () => {
  const tables = localTables();

  it.each(["key", "query", "none"] as const)("lets nothing be sent past it, by %s", async (capability) => {
    const world = await operationWorld(tables, { capability });
    // Two seconds are kept to record the result: 58 of 60 seconds may pass.
    const claims = (request: { readonly item: Readonly<Record<string, unknown>> }) =>
      request.item["operation_id"] === world.operationId && request.item["status"] === "STARTED";
    world.proxy.on(claims, { after: () => world.clock.advance(58_000) });
    expect(await faultOf(world.enter())).toMatchObject({ code: "deadline_passed", failureClass: "retryable" });
    expect(world.downstream.requests).toEqual([]);
    expect(await world.entry()).toMatchObject({ status: "FAILED_RETRYABLE", may_have_applied: false });
    await world.enter();
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("lets a call be sent up to the last millisecond before it", async () => {
    const world = await operationWorld(tables);
    const claims = (request: { readonly item: Readonly<Record<string, unknown>> }) =>
      request.item["operation_id"] === world.operationId && request.item["status"] === "STARTED";
    world.proxy.on(claims, { after: () => world.clock.advance(57_999) });
    await world.enter();
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("aborts a call, and one that ends on the abort is recorded as a doubt", async () => {
    const world = await operationWorld(tables, { capability: "none" });
    world.downstream.next({ kind: "slow" });
    const ends = faultOf(world.enter());
    await world.clock.timerOf(10_000);
    world.clock.advance(10_000);
    expect(await ends).toMatchObject({ name: "OperationUnknown" });
    expect(await world.entry()).toMatchObject({ status: "UNKNOWN", error: { code: "tool_timeout" } });
    expect(world.ended()).toBe(0);
  });

  it("records a call that ignores its abort, and then ends the process", async () => {
    const world = await operationWorld(tables);
    world.downstream.next({ kind: "hang" });
    const ends = faultOf(world.enter());
    await world.clock.timerOf(10_000);
    world.clock.advance(10_250);
    expect(await ends).toMatchObject({ code: "operation_in_doubt" });
    expect(await world.entry()).toMatchObject({ status: "STARTED", may_have_applied: true });
    expect(world.ended()).toBe(1);
  });

  it("ends the process of such a call even when it cannot be recorded", async () => {
    const world = await operationWorld(tables);
    world.downstream.next({ kind: "hang" });
    world.proxy.on((request) => isWrite(request) && request.item["may_have_applied"] === true, refuse, 4);
    const ends = faultOf(world.enter());
    await world.clock.timerOf(10_000);
    world.clock.advance(10_250);
    await ends;
    expect(world.ended()).toBe(1);
    expect(await world.entry()).toMatchObject({ status: "STARTED", lease_until: "2026-09-02T12:01:01.000Z" });
  });

  it("of a lookup is its own: what it did not say is no word", async () => {
    const world = await operationWorld(tables, { capability: "query", lookup: () => new Promise(() => undefined) });
    world.downstream.next({ kind: "drop_response" });
    await faultOf(world.enter());
    world.clock.advance(settleMs);
    const ends = faultOf(world.enter());
    await world.clock.timerOf(10_000);
    world.clock.advance(10_250);
    expect(await ends).toMatchObject({ name: "OperationUnknown" });
    expect(world.ended()).toBe(0);
  });
});

describe("a lookup", () => {
  const tables = localTables();

  it("that was asked before the settle time proves nothing, although it answered after it", async () => {
    const world = await operationWorld(tables, {
      capability: "query",
      lookup: async () => {
        world.clock.advance(2);
        return "not_found";
      },
    });
    world.downstream.next({ kind: "late_commit" });
    await faultOf(world.enter());
    world.clock.advance(settleMs - 1);
    expect(await faultOf(world.enter())).toMatchObject({ code: "settling" });
    expect((await world.entry())?.status).toBe("STARTED");
  });

  it("that fails once the time has settled leaves the outcome unknown, and alarms once", async () => {
    const world = await operationWorld(tables, {
      capability: "query",
      lookup: () => Promise.reject(new Error("the other side is down")),
    });
    world.downstream.next({ kind: "drop_response" });
    await faultOf(world.enter());
    world.clock.advance(settleMs);
    expect(await faultOf(world.enter())).toMatchObject({ name: "OperationUnknown" });
    expect(await faultOf(world.enter())).toMatchObject({ name: "OperationUnknown" });
    expect(world.metrics.total("side_effect_unknown_total")).toBe(1);
    expect(world.metrics.total("reconciliation_total")).toBe(1);
  });

  it("of two executors at once settles for both", async () => {
    const world = await operationWorld(tables, { capability: "query" });
    world.downstream.next({ kind: "drop_response" });
    await faultOf(world.enter());
    world.clock.advance(settleMs);
    const [one, two] = await Promise.all([world.enter(), world.enter()]);
    expect(one).toEqual(two);
    expect(world.downstream.effects).toHaveLength(1);
    expect((await world.entry())?.contradictions).toBeUndefined();
  });
});
