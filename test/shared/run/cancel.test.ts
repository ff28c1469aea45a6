import { describe, expect, it } from "vitest";
import { minutes } from "../../../shared/index.ts";
import { cancelRun } from "../../../shared/run/cancel-run.ts";
import { localTables } from "../../builders/local-tables.ts";
import { lapsedMs, sweepWorld } from "../../builders/sweep-world.ts";

describe("a cancelled run", () => {
  const tables = localTables();

  it("that waits is sent home and takes no further answer", async () => {
    const world = await sweepWorld(tables, { approval: true });
    await world.go();
    expect(await cancelRun(world.runId, "kim", world.ports)).toMatchObject({
      changed: true,
      run: { status: "CANCELLED", outcome: "cancelled" },
    });
    expect([...world.engine.tokens.values()]).toEqual(["surefoot.stale"]);
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "ended" });
    expect(await cancelRun(world.runId, "lee", world.ports)).toMatchObject({ changed: false });
    expect((await world.history()).waiters).toMatchObject([{ status: "ANSWERED" }]);
  });

  it("settles what is in flight, records it, and starts nothing after it", async () => {
    const world = await sweepWorld(tables);
    world.downstream.next({
      kind: "held",
      run: async () => {
        await cancelRun(world.runId, "kim", world.ports);
      },
    });
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "ended" });
    expect(await world.verdict()).toBe("run CANCELLED, 1 effects, operation SUCCEEDED");
    expect((await world.history()).steps.map(({ node }) => node)).toEqual(["place"]);
  });

  it("whose write is in doubt has it found out by the sweep, and stays cancelled", async () => {
    const world = await sweepWorld(tables, { side: "query" });
    world.downstream.next({ kind: "drop_response" });
    await world.go();
    await cancelRun(world.runId, "kim", world.ports);
    world.clock.advance(1_000);
    expect(await world.sweep()).toMatchObject({ deeds: { reconciled: 1 }, errors: 0 });
    expect(await world.verdict()).toBe("run CANCELLED, 1 effects, operation SUCCEEDED");
    expect(world.engine.names()).toHaveLength(1);
  });

  it.each([
    ["a key alone has a person look: the key is not sent again, since it may be the first to arrive", "key", "UNKNOWN"],
    ["a lookup beside its key is looked up, and was never sent", "key_and_query", "FAILED_RETRYABLE"],
    ["a query is looked up, and was never sent", "query", "FAILED_RETRYABLE"],
  ] as const)("whose write may have been sent, with %s", async (_title, side, status) => {
    const world = await sweepWorld(tables, { side });
    world.dieAt({ when: "before", call: "tool.execute" });
    await world.go();
    await cancelRun(world.runId, "kim", world.ports);
    world.clock.advance(lapsedMs + minutes(3));
    expect(await world.sweep()).toMatchObject({ deeds: { reconciled: 1 }, errors: 0 });
    expect(await world.verdict()).toBe(`run CANCELLED, 0 effects, operation ${status}`);
    expect(world.downstream.requests).toEqual([]);
  });

  it("was cancelled once, however many do it at once", async () => {
    const world = await sweepWorld(tables, { approval: true });
    await world.go();
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, n) => cancelRun(world.runId, `person-${n}`, world.ports)),
    );
    expect(all.filter(({ changed }) => changed)).toHaveLength(1);
  });

  it("that has ended, or that nobody knows, is refused", async () => {
    const world = await sweepWorld(tables);
    await world.go();
    await expect(cancelRun(world.runId, "kim", world.ports)).rejects.toMatchObject({ code: "run_ended", status: 409 });
    await expect(cancelRun("no-such", "kim", world.ports)).rejects.toMatchObject({ code: "unknown_run", status: 404 });
  });
});
