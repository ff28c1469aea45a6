import { describe, expect, it } from "vitest";
import { ComeBackLater, OperationUnknown } from "../../../shared/faults/faults.ts";
import type { Capability, OperationStatus } from "../../../shared/ledger/ledger-entry.ts";
import { type CrashPoint, ProcessDied } from "../../builders/life.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf, leaseMs, operationWorld, type OperationWorld, settleMs } from "../../builders/operation-world.ts";

interface Row {
  readonly cut: string;
  readonly crash: CrashPoint;
  readonly capability: Capability;
  readonly effects: number;
  readonly status: OperationStatus;
  /** Requests that reached the other side in all. */
  readonly requests: number;
}

const cuts = {
  "before the claim": { when: "before", call: "ledger.claim" },
  "after the claim, before the call": { when: "after", call: "ledger.claim" },
  "before the request was sent": { when: "before", call: "tool.execute" },
  "after the effect, before its answer was read": { when: "after", call: "tool.execute" },
  "after the answer, before the commit": { when: "before", call: "ledger.commit" },
  "after the commit": { when: "after", call: "ledger.commit" },
} as const satisfies Record<string, CrashPoint>;

const rows: readonly Row[] = (
  [
    ["before the claim", "key", 1, "SUCCEEDED", 1],
    ["after the claim, before the call", "key", 1, "SUCCEEDED", 1],
    ["before the request was sent", "key", 1, "SUCCEEDED", 1],
    ["after the effect, before its answer was read", "key", 1, "SUCCEEDED", 2],
    ["after the answer, before the commit", "key", 1, "SUCCEEDED", 2],
    ["after the commit", "key", 1, "SUCCEEDED", 1],
    ["before the claim", "query", 1, "SUCCEEDED", 1],
    ["after the claim, before the call", "query", 1, "SUCCEEDED", 1],
    ["before the request was sent", "query", 1, "SUCCEEDED", 1],
    ["after the effect, before its answer was read", "query", 1, "SUCCEEDED", 1],
    ["after the answer, before the commit", "query", 1, "SUCCEEDED", 1],
    ["after the commit", "query", 1, "SUCCEEDED", 1],
    ["before the claim", "none", 1, "SUCCEEDED", 1],
    ["after the claim, before the call", "none", 0, "UNKNOWN", 0],
    ["before the request was sent", "none", 0, "UNKNOWN", 0],
    ["after the effect, before its answer was read", "none", 1, "UNKNOWN", 1],
    ["after the answer, before the commit", "none", 1, "UNKNOWN", 1],
    ["after the commit", "none", 1, "SUCCEEDED", 1],
  ] as const
).map(([cut, capability, effects, status, requests]) => ({
  cut,
  crash: cuts[cut],
  capability,
  effects,
  status,
  requests,
}));

/** Enters as the state machine would: later when told so, until there is a result or a person is needed. */
async function untilDecided(world: OperationWorld): Promise<void> {
  for (let entries = 0; entries < 10; entries++) {
    try {
      await world.enter();
      return;
    } catch (error) {
      if (error instanceof OperationUnknown) return;
      if (!(error instanceof ComeBackLater)) throw error;
      world.clock.advance(Math.max(1_000, (error.notBeforeMs ?? 0) - world.clock.nowMs()));
    }
  }
  throw new Error("expected a decision within ten entries");
}

describe("a crash", () => {
  const tables = localTables();

  it.each(rows)(
    "$cut, downstream by $capability: $effects effect(s), $status",
    async ({ crash, capability, effects, status, requests }) => {
      const world = await operationWorld(tables, { capability });
      await expect(world.enter({ crash })).rejects.toThrow(ProcessDied);
      await untilDecided(world);

      expect(world.downstream.effects).toHaveLength(effects);
      expect(world.downstream.requests).toHaveLength(requests);
      expect((await world.entry())?.status).toBe(status);
      expect(new Set(world.downstream.requests).size).toBeLessThanOrEqual(1);
    },
  );

  it("leaves a live lease, and whoever comes meanwhile sends nothing", async () => {
    const world = await operationWorld(tables);
    await expect(world.enter({ crash: cuts["after the claim, before the call"] })).rejects.toThrow(ProcessDied);
    world.clock.advance(leaseMs - 1);
    expect(await faultOf(world.enter())).toMatchObject({
      name: "ComeBackLater",
      code: "operation_in_flight",
      notBeforeMs: Date.UTC(2026, 8, 2, 12, 1, 1),
    });
    expect(world.downstream.requests).toEqual([]);
    expect(world.metrics.total("side_effect_duplicate_prevented_total")).toBe(1);

    world.clock.advance(1);
    await world.enter();
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("after the commit: the recorded result is given again and nothing is sent", async () => {
    const world = await operationWorld(tables);
    await expect(world.enter({ crash: cuts["after the commit"] })).rejects.toThrow(ProcessDied);
    expect(await world.enter()).toEqual({
      operationId: world.operationId,
      output: { json: '{"amountCents":4200,"ref":"ref_1"}' },
    });
    expect(world.downstream.requests).toHaveLength(1);
    expect(world.metrics.total("side_effect_duplicate_prevented_total")).toBe(1);
  });

  it("and a commit that lands late, by query: not found counts only after the settle time, and then it is found", async () => {
    const world = await operationWorld(tables, { capability: "query" });
    world.downstream.next({ kind: "late_commit" });
    expect(await faultOf(world.enter())).toMatchObject({ code: "settling" });
    world.clock.advance(settleMs - 1);
    expect(await faultOf(world.enter())).toMatchObject({
      code: "settling",
      notBeforeMs: Date.UTC(2026, 8, 2, 12, 2, 0),
    });
    world.downstream.landLate();
    world.clock.advance(1);
    await world.enter();
    expect(world.downstream.effects).toHaveLength(1);
    expect(await world.entry()).toMatchObject({
      status: "SUCCEEDED",
      external_ref: "ref_1",
      resolution: { outcome: "SUCCEEDED", by: "reconciler" },
    });
  });

  it.each(["key", "query", "none"] as const)("of every attempt spends the budget, by %s", async (capability) => {
    const world = await operationWorld(tables, { capability, attempts: 3 });
    const ends: unknown[] = [];
    for (let attempt = 1; attempt <= 6; attempt++) {
      ends.push((await faultOf(world.enter({ crash: { when: "before", call: "tool.execute" } }))).name);
      world.clock.advance(leaseMs + settleMs);
    }
    const died = "ProcessDied";
    const expected = {
      key: [died, died, died, "OperationUnknown", "OperationUnknown", "OperationUnknown"],
      query: [died, died, died, "SurefootFault", "SurefootFault", "SurefootFault"],
      none: [died, "OperationUnknown", "OperationUnknown", "OperationUnknown", "OperationUnknown", "OperationUnknown"],
    };
    expect(ends).toEqual(expected[capability]);
    expect(world.downstream.effects).toEqual([]);
    const status = { key: "UNKNOWN", query: "FAILED_RETRYABLE", none: "UNKNOWN" };
    expect(await world.entry()).toMatchObject({
      status: status[capability],
      attempt: capability === "none" ? 1 : 3,
    });
  });
});
