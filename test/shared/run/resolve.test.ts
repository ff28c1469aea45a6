import { describe, expect, it } from "vitest";
import { cancelRun } from "../../../shared/run/cancel-run.ts";
import { type ResolveRequest, resolveOperation } from "../../../shared/run/resolve-operation.ts";
import { localTables } from "../../builders/local-tables.ts";
import { lapsedMs, sweepWorld, type SweepWorld, type SweepWorldOptions } from "../../builders/sweep-world.ts";

describe("a person's word on an operation in doubt", () => {
  const tables = localTables();

  async function inDoubt(options: SweepWorldOptions = {}): Promise<SweepWorld> {
    const world = await sweepWorld(tables, { side: "none", ...options });
    world.downstream.next({ kind: "drop_response" });
    await world.go();
    expect(await world.verdict()).toBe("run PARKED, 1 effects, operation UNKNOWN");
    return world;
  }

  const say = (world: SweepWorld, over: Partial<ResolveRequest> = {}) =>
    resolveOperation(
      {
        ...{ operationId: world.operationId, outcome: "succeeded", by: "kim", evidence: "seen in the shop" },
        ...{ expectedVersion: undefined, externalRef: "ref_1", result: undefined },
        ...over,
      },
      world.ports,
    );

  it("of twenty different ones at once counts once, and every other is told whose and when", async () => {
    const world = await inDoubt();
    const words = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        say(world, { outcome: (["succeeded", "failed", "retry"] as const)[n % 3] ?? "failed", by: `person-${n}` }),
      ),
    );
    expect(words.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const { resolution } = await world.entry();
    for (const word of words) {
      if (word.status === "fulfilled") {
        expect(word.value).toMatchObject({ changed: true, wake: "woken", entry: { resolution } });
      } else {
        expect(word.reason).toMatchObject({ code: "not_unknown", status: 409 });
        expect((word.reason as Error).message).toContain(`by ${resolution?.by} at 2026-09-02T12:00:00.000Z`);
      }
    }
  });

  it("said twenty times at once by one person is one word", async () => {
    const world = await inDoubt();
    const words = await Promise.all(Array.from({ length: 20 }, () => say(world)));
    expect(words.filter(({ changed }) => changed)).toHaveLength(1);
    expect(await world.entry()).toMatchObject({ status: "SUCCEEDED", version: 3 });
  });

  it("for a second doubt is a second word, though it is the same person's and the same", async () => {
    const world = await inDoubt();
    world.downstream.next({ kind: "drop_response" });
    expect(await say(world, { outcome: "retry" })).toMatchObject({ changed: true, wake: "woken" });
    await world.go();
    expect(await world.entry()).toMatchObject({ status: "UNKNOWN", attempt: 2 });
    expect(await say(world, { outcome: "retry" })).toMatchObject({ changed: true, wake: "woken" });
    await world.go();
    expect(await world.entry()).toMatchObject({ status: "SUCCEEDED", attempt: 3, attempts_granted: 2 });
  });

  it("on an older version is refused", async () => {
    const world = await inDoubt();
    const { version } = await world.entry();
    await expect(say(world, { expectedVersion: version - 1 })).rejects.toMatchObject({
      code: "version_changed",
      status: 409,
      facts: { operation_id: world.operationId, status: "UNKNOWN", version: 2 },
    });
    expect(await say(world, { expectedVersion: version })).toMatchObject({ changed: true });
  });

  it("needs a reference where the tool makes its answer of one", async () => {
    const world = await inDoubt();
    await expect(say(world, { externalRef: undefined })).rejects.toMatchObject({
      code: "result_missing",
      message: expect.stringContaining("external_ref") as string,
    });
    expect((await world.entry()).status).toBe("UNKNOWN");
  });

  it("needs the answer itself where the tool cannot make it, and one that fits", async () => {
    const world = await inDoubt({ resultOf: false });
    await expect(say(world)).rejects.toMatchObject({ code: "result_missing" });
    await expect(say(world, { result: { ref: "ref_1", amountCents: "much" } })).rejects.toMatchObject({
      code: "result_invalid",
      message: expect.stringContaining("result.amountCents") as string,
    });
    expect((await world.entry()).status).toBe("UNKNOWN");
    expect(await say(world, { result: { ref: "ref_1", amountCents: 4_200 } })).toMatchObject({ changed: true });
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
  });

  it("before its run has come to wait for it is refused, so that no success is recorded without an answer", async () => {
    const world = await sweepWorld(tables, { side: "none" });
    world.dieAt({ when: "after", call: "tool.execute" });
    await world.go();
    world.killExecution();
    world.clock.advance(lapsedMs);
    await world.sweep();
    expect((await world.history()).waiters).toEqual([]);
    await expect(say(world, { externalRef: undefined })).rejects.toMatchObject({ code: "not_asked", status: 409 });
    await world.go();
    expect(await say(world)).toMatchObject({ changed: true, wake: "woken" });
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
  });

  it("is taken after its run was cancelled, and wakes nobody", async () => {
    const world = await inDoubt();
    await cancelRun(world.runId, "lee", world.ports);
    await world.go();
    expect(await say(world)).toMatchObject({ changed: true, wake: "told_before" });
    expect(world.engine.names()).toEqual([`${world.runId}-1`]);
    expect(await world.verdict()).toBe("run CANCELLED, 1 effects, operation SUCCEEDED");
  });

  it("on an operation that is settled, or that nobody knows, is refused", async () => {
    const world = await sweepWorld(tables);
    await world.go();
    await expect(say(world)).rejects.toMatchObject({ code: "not_unknown", status: 409 });
    await expect(say(world, { operationId: "no-such" })).rejects.toMatchObject({
      code: "unknown_operation",
      status: 404,
    });
  });
});
