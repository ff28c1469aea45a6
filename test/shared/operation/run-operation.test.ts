import { describe, expect, it } from "vitest";
import { isWrite } from "../../builders/dynamo-proxy.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf, operationWorld } from "../../builders/operation-world.ts";

const noon = Date.UTC(2026, 8, 2, 12, 0, 0);

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
