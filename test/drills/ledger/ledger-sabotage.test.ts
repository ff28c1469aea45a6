import { describe, expect, it } from "vitest";
import type * as Drill from "./drill-ledger.ts";
import type { LedgerDrill } from "./drill-settings.ts";
import { loadSabotaged, type Sabotage } from "../sabotage.ts";

const two = { entries: [1, 1], sweeps: 0, faultsMax: 1 };
const twice = { entries: [2], sweeps: 0, faultsMax: 1 };

/** Careless changes of one line each, and the exploration that must notice. */
const sabotages: readonly (readonly [Sabotage, LedgerDrill])[] = [
  [
    {
      name: "a live lease is not respected",
      file: "shared/operation/decide-recovery.ts",
      line: "if (nowMs < leaseUntilMs) return",
      becomes: "if (nowMs < 0) return",
    },
    { ...two, capability: "key" },
  ],
  [
    {
      name: "a lease ends before its process does",
      file: "shared/operation/phases/prepare.ts",
      line: "call.killedAtMs + leaseMarginMs,",
      becomes: "call.killedAtMs - 25_000,",
    },
    { ...two, capability: "key", entries: [1, 2] },
  ],
  [
    {
      name: "the request hash is not compared",
      file: "shared/operation/decide-recovery.ts",
      line: "if (entry.request_hash !== requestHash && !neverSent)",
      becomes: "if (false as boolean)",
    },
    { ...two, capability: "key", otherRequest: true },
  ],
  [
    {
      name: "sent before STARTED is on record",
      file: "shared/operation/phases/prepare.ts",
      line: "const write = await ports.ledger.claim(",
      becomes: "const write = await ports.ledger.propose(",
    },
    { ...twice, capability: "key" },
  ],
  [
    {
      name: "an attempt is counted only once it is over",
      file: "shared/ledger/ledger.ts",
      line: "attempt: found.attempt + 1,",
      becomes: "attempt: found.attempt,",
    },
    { ...twice, capability: "key" },
  ],
  [
    {
      name: "not found is trusted before the settle time",
      file: "shared/operation/decide-recovery.ts",
      line: "if (askedAtMs < settledAtMs)",
      becomes: "if (askedAtMs < 0)",
    },
    { ...twice, capability: "query" },
  ],
  [
    {
      name: "a key is used again past its window",
      file: "shared/operation/decide-recovery.ts",
      line: "return timeOf(entry.first_sent_at) + downstream.windowMs - Math.min(windowMarginMs, downstream.windowMs / 10);",
      becomes: "return Infinity;",
    },
    { ...twice, capability: "key", entries: [3], faultsMax: 2 },
  ],
  [
    {
      name: "what can neither be repeated nor asked is repeated",
      file: "shared/operation/decide-recovery.ts",
      line: 'if (downstream.by === "none") return { kind: "unknown", why: "the other side has neither a key nor a query" };',
      becomes: 'if (downstream.by === "none") return { kind: "replay" };',
    },
    { ...twice, capability: "none" },
  ],
  [
    {
      name: "a timeout counts as a failure",
      file: "shared/operation/phases/execute.ts",
      line: 'return { kind: "in_doubt", fault, unsettled: end.unsettled };',
      becomes: 'return { kind: "failed", fault: new Fault("tool_timeout", "retryable", fault.message) };',
    },
    { ...twice, capability: "none" },
  ],
  [
    {
      name: "a lost answer counts as a failure",
      file: "shared/operation/phases/execute.ts",
      line: 'return failureClass === "unknown" ? { kind: "in_doubt", fault, unsettled: false } : { kind: "failed", fault };',
      becomes: 'return { kind: "failed", fault: new Fault(fault.code, "retryable", fault.message) };',
    },
    { ...twice, capability: "none" },
  ],
  [
    {
      name: "a failed attempt clears the doubt about an earlier one",
      file: "shared/operation/phases/commit.ts",
      line: "if (entry.may_have_applied) return inDoubt(call, { entry, request: undefined }, fault, false, ports);",
      becomes: "",
    },
    { ...twice, capability: "key", faultsMax: 2 },
  ],
  [
    {
      name: "whoever comes last takes the attempt over",
      file: "shared/ledger/ledger.ts",
      line: "version: from.version,",
      becomes: "version: (await store.read(from.operation_id))?.version ?? 0,",
    },
    { ...two, capability: "key", sweeps: 1 },
  ],
  [
    {
      name: "a process sends however late it is",
      file: "shared/operation/phases/execute.ts",
      line: "if (nowMs >= lastSendMs || keyForgotten)",
      becomes: "if (keyForgotten)",
    },
    { ...two, capability: "key", entries: [1, 2], zombies: true },
  ],
  [
    {
      name: "a late success is dropped",
      file: "shared/ledger/ledger.ts",
      line: 'if (own.held) return { entry: own.entry, how: "committed" };',
      becomes: 'if (own.held || true) return { entry: own.entry, how: "committed" };',
    },
    { ...two, capability: "none", sweeps: 1, zombies: true },
  ],
];

describe("a sabotaged protocol is caught by the exploration of its schedules", () => {
  it.each(sabotages.map(([sabotage, drill]) => [sabotage.name, sabotage, drill] as const))(
    "%s",
    async (_name, sabotage, drill) => {
      const { drillLedger } = await loadSabotaged<typeof Drill>("test/drills/ledger/drill-ledger.ts", sabotage);
      const explored = await drillLedger(drill);
      expect(explored.violations).toHaveLength(1);
    },
    120_000,
  );

  it("a line that is no longer there is said to be missing, not passed over", async () => {
    const rotten = { name: "rotten", file: "shared/ledger/ledger.ts", line: "there is no such line", becomes: "" };
    await expect(loadSabotaged("test/drills/ledger/drill-ledger.ts", rotten)).rejects.toThrow(
      '"rotten": expected its line once in shared/ledger/ledger.ts, found it 0 times',
    );
  });
});
