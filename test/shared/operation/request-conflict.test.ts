import { describe, expect, it } from "vitest";
import { isWrite } from "../../builders/dynamo-proxy.ts";
import { anEntry } from "../../builders/ledger-world.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf, leaseMs, operationWorld } from "../../builders/operation-world.ts";

const other = { order: "ORD-1", amountCents: 9_900 };

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
