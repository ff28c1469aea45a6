import { afterEach, describe, expect, it, vi } from "vitest";
import { days } from "../../../shared/index.ts";
import { orderWorld } from "./order-world.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** A run, the sweep, and a second executor of the same step, all at once, with a lost answer among them. */
async function crowded(seed: number): Promise<string> {
  const { engine, runId } = await orderWorld({
    seed,
    side: "query",
    faults: [{ at: { port: "tool", verb: "execute" }, fault: { kind: "lost_ack" } }],
  });
  const execution = `${runId}-1`;
  await Promise.all([
    engine.invoke("step-order-agent", { run_id: runId, position: "0000.place", line: "place+tally", execution }),
    engine.sweep(),
    engine.runUntilIdle(),
  ]);
  expect(engine.journal.effects()).toHaveLength(1);
  return engine.trace.text();
}

describe("a seed", () => {
  it("is a run: the same one gives the same trace, byte for byte", async () => {
    const first = await crowded(7);
    expect(first.split("\n").length).toBeGreaterThan(40);
    expect(await crowded(7)).toBe(first);
  });

  it("decides who is next, so that another one is another order of the same calls", async () => {
    const traces = await Promise.all([1, 2, 3].map(crowded));
    expect(new Set(traces).size).toBe(3);
  });
});

describe("time", () => {
  it("is the world's own: a week passes while the machine's clock and timers stand still", async () => {
    const { engine, approve, untilStatus, history } = await orderWorld({ approval: true });
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "setInterval"] });
    await untilStatus("WAITING");
    await engine.skip(days(6));
    expect(await approve()).toBe(200);
    await untilStatus("SUCCEEDED");

    expect((await history()).run.updated_at).toBe("2026-09-08T12:00:00.000Z");
    expect(engine.elapsedMs).toBe(days(6));
  });

  it("thins the sweeps out while nothing happens, and an approval still expires", async () => {
    const { engine, untilStatus, history } = await orderWorld({ approval: true });
    await untilStatus("WAITING");
    await engine.skip(days(8));

    expect((await history()).run).toMatchObject({ status: "SUCCEEDED", outcome: "expired" });
    const sweeps = engine.trace.entries.filter(({ actor }) => actor === "schedule");
    expect(sweeps.length).toBeGreaterThan(5);
    expect(sweeps.length).toBeLessThan(25);
    expect(engine.journal.requests()).toEqual([]);
  });

  it("does not pass a wait for a person when it is only let run until nothing happens", async () => {
    const { engine, status } = await orderWorld({ approval: true });
    await engine.runUntilIdle();
    expect(await status()).toBe("WAITING");
    expect(engine.elapsedMs).toBeLessThan(days(1));
  });
});
