import { describe, expect, it } from "vitest";
import { localTables } from "../../builders/local-tables.ts";
import { seededRandom } from "../../../infra/local/seeded-random.ts";
import { PacedLife, Turns } from "../../builders/paced-life.ts";
import { lapsedMs, sweepWorld } from "../../builders/sweep-world.ts";

/** Seeds of one test: several tests, so that each stays short on a busy machine. */
const seedsEach = 20;
const blocks = Array.from({ length: 10 }, (_, block) => ({ from: 1 + block * seedsEach, to: (block + 1) * seedsEach }));
const sides = ["query", "key", "none", "queue"] as const;

describe("two sweeps and the run itself at once", () => {
  const tables = localTables();

  it.each(blocks)("make one effect and one resolution, seeds $from to $to", async ({ from, to }) => {
    for (let seed = from; seed <= to; seed++) {
      const side = sides[seed % sides.length] ?? "query";
      const turns = new Turns(seed);
      let paced = false;
      const world = await sweepWorld(tables, {
        side,
        life: (crash) => new PacedLife(paced ? turns : new Turns(seed), crash),
      });
      if (side === "queue") await world.go();
      // It happened, and the process that asked for it is gone.
      world.dieAt({ when: "after", call: "tool.execute" });
      if (side === "queue") await world.deliver([world.message()]);
      else await world.go();
      world.clock.advance(lapsedMs);
      if (seededRandom(seed)() < 0.5) world.killExecution();

      paced = true;
      await Promise.all([
        world.sweep(),
        world.sweep(),
        world.go(),
        ...(side === "queue" ? [world.deliver([world.message(2)])] : []),
      ]);
      paced = false;
      await world.go();
      await world.sweep();
      await world.go();

      const entry = await world.entry();
      const told = { seed, side, effects: world.downstream.effects.length, status: entry.status };
      const known = side === "query" || side === "key";
      expect(told).toEqual({ seed, side, effects: 1, status: known ? "SUCCEEDED" : "UNKNOWN" });
      expect(entry.contradictions ?? []).toEqual([]);
      expect({ seed, status: (await world.history()).run.status }).toEqual({
        seed,
        status: known ? "SUCCEEDED" : "PARKED",
      });
      expect(world.metrics.total("side_effect_unknown_total")).toBe(known ? 0 : 1);
      expect(world.metrics.total("side_effect_duplicate_detected_total")).toBe(0);
      const { waiters } = await world.history();
      expect({ seed, open: waiters.filter(({ status }) => status === "OPEN").length }).toEqual({
        seed,
        open: known ? 0 : 1,
      });
    }
  });
});
