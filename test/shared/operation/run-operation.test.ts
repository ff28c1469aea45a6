import { describe, expect, it } from "vitest";
import { minutes } from "../../../shared/index.ts";
import { isWrite, refuse } from "../../builders/dynamo-proxy.ts";
import { anEntry } from "../../builders/ledger-world.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf, leaseMs, operationWorld, settleMs } from "../../builders/operation-world.ts";

const noon = Date.UTC(2026, 8, 2, 12, 0, 0);
const other = { order: "ORD-1", amountCents: 9_900 };

describe("one logical side effect", () => {
  const tables = localTables();

  it("is sent once under its operation id, recorded with its reference, in two durable writes", async () => {
    const world = await operationWorld(tables);
    const before = world.proxy.requests.filter(isWrite).length;
    expect(await world.enter()).toEqual({
      operationId: world.operationId,
      output: { json: '{"amountCents":4200,"ref":"ref_1"}' },
    });
    expect(world.proxy.requests.filter(isWrite).length - before).toBe(2);
    expect(world.downstream.requests).toEqual([world.operationId]);
    expect(await world.entry()).toMatchObject({
      status: "SUCCEEDED",
      action_name: "place_order",
      business_key: "ORD-1",
      position: "0000.place",
      request: { json: '{"amountCents":4200,"order":"ORD-1"}' },
      external_ref: "ref_1",
      attempt: 1,
      committed_at: "2026-09-02T12:00:00.000Z",
      version: 2,
    });
  });

  it("is given again to every later entry, and what does not matter to it may differ", async () => {
    const world = await operationWorld(tables);
    const first = await world.enter();
    const decorated = { order: "ORD-1", amountCents: 4_200, note: "please hurry" };
    expect(await world.enter({ input: decorated })).toEqual(first);
    expect(world.downstream.requests).toHaveLength(1);
  });

  it("keeps to its frozen request on a replay: what was sent first is what is sent again", async () => {
    const world = await operationWorld(tables);
    world.downstream.next({ kind: "drop_response" });
    await faultOf(world.enter());
    await world.enter({ input: { order: "ORD-1", amountCents: 4_200, note: "later words" } as never });
    expect((await world.entry())?.request).toEqual({ json: '{"amountCents":4200,"order":"ORD-1"}' });
  });

  it("is not started by a run that was cancelled", async () => {
    const world = await operationWorld(tables);
    await world.log.change(world.run, ["RUNNING"], { status: "CANCELLED" });
    expect(await faultOf(world.enter())).toMatchObject({ code: "run_not_open", failureClass: "final" });
    expect(await world.entry()).toBeUndefined();
  });

  it("is reconciled for a cancelled run too: what was sent stays to be known", async () => {
    const world = await operationWorld(tables, { capability: "query" });
    world.downstream.next({ kind: "drop_response" });
    await faultOf(world.enter());
    await world.log.change(world.run, ["RUNNING"], { status: "CANCELLED" });
    await world.enter();
    expect((await world.entry())?.status).toBe("SUCCEEDED");
  });

  it("with a request that does not fit the tool is refused before anything is written", async () => {
    const world = await operationWorld(tables);
    const fault = await faultOf(world.enter({ input: { order: "ORD-1", amountCents: 0.5 } }));
    expect(fault).toMatchObject({ code: "invalid_request", failureClass: "final" });
    expect(fault.message).toContain("amountCents");
    expect(await world.entry()).toBeUndefined();
  });

  it.each([
    ["with", { request: () => JSON.parse("{") as never }],
    ["businessKey", { businessKey: () => JSON.parse("{") as never }],
  ])(
    "whose %s callback throws is the agent's fault, named with the node, and nothing is sent",
    async (name, options) => {
      const world = await operationWorld(tables, options);
      const fault = await faultOf(world.enter());
      expect(fault).toMatchObject({ code: "agent_code", failureClass: "final" });
      expect(fault.message).toContain(`${name} of node place`);
      expect(world.downstream.requests).toEqual([]);
    },
  );

  it.each(["", "x".repeat(257)])("needs a business key of 1 to 256 characters (%#)", async (key) => {
    const world = await operationWorld(tables, { businessKey: () => key });
    expect(await faultOf(world.enter())).toMatchObject({ code: "invalid_business_key", failureClass: "final" });
    expect(world.downstream.requests).toEqual([]);
  });
});

describe("the same operation id with another request is refused, and the other side sees nothing", () => {
  const tables = localTables();

  async function refused(world: Awaited<ReturnType<typeof operationWorld>>, found: string, requests: number) {
    const before = await world.entry();
    expect(await faultOf(world.enter({ input: other }))).toMatchObject({
      name: "OperationConflict",
      code: "operation_conflict",
      failureClass: "final",
      facts: { found },
    });
    expect(world.downstream.requests).toHaveLength(requests);
    expect(await world.entry()).toEqual(before);
    expect(world.metrics.total("side_effect_conflict_total")).toBe(1);
  }

  it("when it loses the race to create it", async () => {
    const world = await operationWorld(tables);
    world.proxy.on((request) => isWrite(request) && request.item["operation_id"] === world.operationId, {
      before: async () => {
        await world.store.create(anEntry("STARTED", { operation_id: world.operationId }));
      },
    });
    expect(await faultOf(world.enter({ input: other }))).toMatchObject({ code: "operation_conflict" });
    expect(world.downstream.requests).toEqual([]);
    expect((await world.entry())?.request_hash).toBe("aaaa");
  });

  it("while the first is in flight", async () => {
    const world = await operationWorld(tables);
    await faultOf(world.enter({ crash: { when: "after", call: "ledger.claim" } }));
    await refused(world, "STARTED", 0);
  });

  it("when the first is in doubt", async () => {
    const world = await operationWorld(tables);
    world.downstream.next({ kind: "drop_response" });
    await faultOf(world.enter());
    world.clock.advance(leaseMs);
    await refused(world, "STARTED", 1);
  });

  it("after it succeeded, also when it is delivered again", async () => {
    const world = await operationWorld(tables);
    await world.enter();
    await refused(world, "SUCCEEDED", 1);
    expect(await faultOf(world.enter({ input: other }))).toMatchObject({ code: "operation_conflict" });
    expect(world.downstream.requests).toHaveLength(1);
  });

  it("after it failed for now", async () => {
    const world = await operationWorld(tables);
    world.downstream.next({ kind: "refuse" });
    await faultOf(world.enter());
    await refused(world, "FAILED_RETRYABLE", 0);
  });

  it("after it failed for good", async () => {
    const world = await operationWorld(tables);
    world.downstream.next({ kind: "status", status: 400 });
    await faultOf(world.enter());
    await refused(world, "FAILED_FINAL", 1);
  });

  it("when its outcome is unknown", async () => {
    const world = await operationWorld(tables, { capability: "none" });
    world.downstream.next({ kind: "drop_response" });
    await faultOf(world.enter());
    await refused(world, "UNKNOWN", 1);
  });
});

describe("a server's retry-after is a floor", () => {
  const tables = localTables();

  it("for an attempt that failed, however long", async () => {
    const world = await operationWorld(tables);
    world.downstream.next({ kind: "status", status: 429, retryAfterSeconds: 7_200 });
    expect(await faultOf(world.enter())).toMatchObject({ code: "http_429", notBeforeMs: noon + 7_200_000 });
    world.clock.advance(7_199_999);
    expect(await faultOf(world.enter())).toMatchObject({ code: "retry_after", notBeforeMs: noon + 7_200_000 });
    expect(world.downstream.requests).toHaveLength(1);
    expect((await world.entry())?.attempt).toBe(1);
    world.clock.advance(1);
    await world.enter();
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("for the replay of one in doubt too", async () => {
    const world = await operationWorld(tables);
    world.downstream.next({ kind: "status", status: 500, retryAfterSeconds: 600 });
    expect(await faultOf(world.enter())).toMatchObject({ code: "operation_in_doubt", notBeforeMs: noon + 600_000 });
    world.clock.advance(599_999);
    expect(await faultOf(world.enter())).toMatchObject({ code: "retry_after" });
    world.clock.advance(1);
    await world.enter();
    expect(world.downstream.requests).toHaveLength(2);
  });
});

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

describe("the budget", () => {
  const tables = localTables();

  it("ends after the tool's attempts, and says that it did not happen", async () => {
    const world = await operationWorld(tables, { attempts: 2 });
    world.downstream.next({ kind: "status", status: 503 }, { kind: "status", status: 503 });
    expect(await faultOf(world.enter())).toMatchObject({ code: "http_503" });
    expect(await faultOf(world.enter())).toMatchObject({ code: "http_503" });
    const fault = await faultOf(world.enter());
    expect(fault).toMatchObject({ code: "retry_exhausted" });
    expect(fault.message).toContain("failed 2 of 2 times");
    expect(world.downstream.requests).toHaveLength(2);
    expect(world.metrics.total("retry_exhausted_total")).toBe(1);
  });
});
