import { describe, expect, it } from "vitest";
import { drillLedger } from "./drill-ledger.ts";
import type { LedgerDrill } from "./drill-settings.ts";

/** Explorations are counted, not timed; the slowest takes about a minute on one quiet core, and many on a busy one. */
const timeout = 15 * 60_000;

const two = { entries: [1, 1], sweeps: 0, faultsMax: 1 };
const twoAndASweep = { ...two, sweeps: 1 };
const again = { entries: [3], sweeps: 0, faultsMax: 2 };

/** What is explored, and the least schedules that must be: fewer would mean that something is no longer tried. */
const explorations: readonly (readonly [string, LedgerDrill, number])[] = [
  ["two executors and the sweep, one fault at any call, by key", { ...twoAndASweep, capability: "key" }, 60_000],
  ["two executors and the sweep, one fault at any call, by query", { ...twoAndASweep, capability: "query" }, 25_000],
  ["two executors and the sweep, two faults, none", { ...twoAndASweep, capability: "none", faultsMax: 2 }, 10_000],
  ["two executors, two faults, by key", { ...two, capability: "key", faultsMax: 2 }, 3_000],
  ["two executors, two faults, by query", { ...two, capability: "query", faultsMax: 2 }, 1_500],
  ["one executor that enters three times, two faults, by key", { ...again, capability: "key" }, 7_000],
  ["one executor that enters three times, two faults, by query", { ...again, capability: "query" }, 4_000],
  ["another request under the same key", { ...two, capability: "key", otherRequest: true }, 700],
  [
    "a process that outlives its deadline, by key",
    { ...two, entries: [1, 2], capability: "key", zombies: true },
    1_200,
  ],
  ["a process that outlives its deadline, by query", { ...two, capability: "query", zombies: true }, 900],
  ["a process that outlives its deadline, none", { ...twoAndASweep, capability: "none", zombies: true }, 8_000],
];

describe("every schedule of the operation protocol", () => {
  it.each(explorations)(
    "%s: one effect at most, and what is on record is true",
    async (_what, drill, schedulesMin) => {
      const explored = await drillLedger(drill);
      expect(explored.violations).toEqual([]);
      expect(explored.complete).toBe(true);
      expect(explored.schedules).toBeGreaterThan(schedulesMin);
    },
    timeout,
  );
});
