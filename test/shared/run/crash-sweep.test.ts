import { describe, expect, it } from "vitest";
import { Life, type CrashPoint } from "../../builders/life.ts";
import { localTables } from "../../builders/local-tables.ts";
import { runWorld, type RunWorld } from "../../builders/run-world.ts";

const first = "plan+stock+review";
const second = "place+tally";

/** Every call that a line makes of its ports in a clean run, each once before and once after it. */
async function pointsOf(world: RunWorld, line: string, position: string): Promise<readonly CrashPoint[]> {
  await world.step(line, position);
  const seen = new Map<string, number>();
  return world.life().calls.flatMap((call) => {
    const nth = (seen.get(call) ?? 0) + 1;
    seen.set(call, nth);
    return [
      { when: "before", call, nth },
      { when: "after", call, nth },
    ] as const;
  });
}

describe("a process that dies at any call of any port", () => {
  const tables = localTables();

  it("of the first line asks a recorded model never again and comes to the same end", async () => {
    const points = await pointsOf(await runWorld(tables), first, "0000.plan");
    expect(points.map(({ call }) => call)).toContain("models.answer");
    const ends: unknown[] = [];
    for (const at of points) {
      const world = await runWorld(tables);
      const end = await world.drive({ crash: { line: first, at } });
      const recorded = at.call === "log.append" && at.when === "after";
      ends.push({
        at,
        end,
        effects: world.downstream.effects.length,
        asks: world.modelRequests.length <= (recorded ? 1 : 2),
      });
    }
    expect(ends).toEqual(points.map((at) => ({ at, end: "done", effects: 1, asks: true })));
  });

  it("of the second line places the order once and comes to the same end", async () => {
    const probe = await runWorld(tables);
    await probe.step(first, "0000.plan");
    const points = await pointsOf(probe, second, "0003.place");
    expect(new Set(points.map(({ call }) => call))).toEqual(
      new Set([
        "log.read",
        "ledger.read",
        "log.readRun",
        "ledger.claim",
        "tool.execute",
        "ledger.commit",
        "log.append",
        "log.change",
      ]),
    );
    const ends: unknown[] = [];
    for (const at of points) {
      const world = await runWorld(tables);
      const end = await world.drive({ crash: { line: second, at } });
      const { run, steps } = await world.history();
      ends.push({
        at,
        end: end === "stopped" ? "done" : end,
        status: run.status,
        effects: world.downstream.effects.length,
        steps: steps.length,
        models: world.modelRequests.length,
        ledger: (await world.store.listByRun(world.runId)).map(({ status }) => status),
      });
    }
    expect(ends).toEqual(
      points.map((at) => ({
        at,
        end: "done",
        status: "SUCCEEDED",
        effects: 1,
        steps: 5,
        models: 1,
        ledger: ["SUCCEEDED"],
      })),
    );
  });

  it("is as dead as this test's own port: nothing passes afterwards", async () => {
    const life = new Life({ when: "before", call: "port.run" });
    const port = life.port("port", { run: async () => "ran", stop: async () => "stopped" });
    await expect(port.run()).rejects.toThrow("died at port.run");
    await expect(port.stop()).rejects.toThrow("dead, and asked for port.stop");
  });
});
