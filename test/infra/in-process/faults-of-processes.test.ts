import { describe, expect, it } from "vitest";
import type { InjectedFault } from "../../../infra/in-process/injected-fault.ts";
import type { TraceEntry } from "../../../infra/in-process/trace.ts";
import { seconds } from "../../../shared/index.ts";
import { order, orderWorld } from "./order-world.ts";

/** The step function's time by default, and what a lease outlives it by. */
const stepMs = seconds(120);
const leaseMarginMs = seconds(1);

const calls = (entries: readonly TraceEntry[], actor: string) =>
  entries
    .filter((entry) => entry.actor === actor)
    .map(({ port, verb, ids }) => `${port}.${verb} ${ids["status"] ?? ""}`.trim());
const invocations = (entries: readonly TraceEntry[]) =>
  entries
    .filter(({ verb, ids }) => verb === "Invoke" && ids["function"] === "step-order-agent")
    .map(({ outcome }) => outcome);

const claim = { port: "dynamo", verb: "Put", ids: { table: "ledger", status: "STARTED" } } as const;
const tool = { port: "tool", verb: "execute" } as const;

describe("a process that dies", () => {
  it("before a call never makes it, and nothing of it is seen again", async () => {
    const { engine, untilStatus } = await orderWorld({ faults: [{ at: tool, fault: { kind: "crash_before" } }] });
    await untilStatus("SUCCEEDED");

    const { entries } = engine.trace;
    expect(calls(entries, "step-order-agent#1")).toEqual([
      "dynamo.Query",
      "dynamo.Get",
      "dynamo.Get",
      "dynamo.Put STARTED",
      "tool.execute",
    ]);
    expect(entries.find(({ port }) => port === "tool")).toMatchObject({ fault: "crash_before" });
    expect(entries.find(({ port }) => port === "tool")?.outcome).toBeUndefined();
    expect(invocations(entries)[0]).toBe("Runtime.ExitError");
    expect(engine.journal.requests("place_order")).toHaveLength(1);
    expect(engine.journal.effects("place_order", order.order)).toHaveLength(1);
  });

  it("after a call has made it, and is dead before it hears of it", async () => {
    const { engine, untilStatus } = await orderWorld({ faults: [{ at: tool, fault: { kind: "crash_after" } }] });
    await untilStatus("SUCCEEDED");

    expect(calls(engine.trace.entries, "step-order-agent#1").at(-1)).toBe("tool.execute");
    // The keyed replay reached the other side too, which knew the key.
    expect(engine.journal.requests("place_order")).toHaveLength(2);
    expect(engine.journal.effects("place_order")).toHaveLength(1);
  });

  it("keeps its lease until its deadline would have passed", async () => {
    const { engine, untilStatus } = await orderWorld({ faults: [{ at: tool, fault: { kind: "crash_after" } }] });
    await untilStatus("SUCCEEDED");

    const replay = engine.trace.entries.filter(({ port }) => port === "tool")[1];
    expect(replay?.atMs).toBeGreaterThanOrEqual(stepMs + leaseMarginMs);
  });

  it.each<InjectedFault["kind"]>(["crash_before", "crash_after"])(
    "by %s at any call of a run counts nothing, logs nothing and calls nothing afterwards",
    async (kind) => {
      const clean = await orderWorld();
      await clean.untilStatus("SUCCEEDED");
      const own = clean.engine.trace.entries.filter(({ hasProcess }) => hasProcess);
      expect(own.length).toBeGreaterThan(12);

      for (const { n, actor } of own) {
        const fault = { kind } as InjectedFault;
        const { engine, untilStatus } = await orderWorld({ faults: [{ at: n, fault }] });
        await untilStatus("SUCCEEDED");
        const later = engine.trace.entries.filter((entry) => entry.actor === actor && entry.n > n);
        expect({ n, later, unspent: engine.unspentFaults, effects: engine.journal.effects().length }).toEqual({
          n,
          later: [],
          unspent: [],
          effects: 1,
        });
      }
    },
  );
});

describe("the deadline", () => {
  it("ends an invocation whose call is held up past it: the call never lands, and the states see a timeout", async () => {
    const { engine, untilStatus } = await orderWorld({
      faults: [{ at: claim, fault: { kind: "delay", ms: stepMs + 1 } }],
    });
    await untilStatus("SUCCEEDED");

    expect(invocations(engine.trace.entries)).toEqual(["Sandbox.Timedout", "ok"]);
    const held = engine.trace.entries.find(({ fault }) => fault === "delay");
    expect(held?.outcome).toBeUndefined();
    const second = engine.trace.entries.find(({ actor }) => actor === "step-order-agent#2");
    // A second later, as the states' own retry has it.
    expect(second?.atMs).toBe(stepMs + seconds(1));
  });

  it("does not end one whose call is held up for less", async () => {
    const { engine, untilStatus } = await orderWorld({
      faults: [{ at: claim, fault: { kind: "delay", ms: seconds(60) } }],
    });
    await untilStatus("SUCCEEDED");
    expect(invocations(engine.trace.entries)).toEqual(["ok"]);
    expect(engine.trace.entries.find(({ fault }) => fault === "delay")?.outcome).toBe("ok");
  });

  it("does not end a zombie: the states see a timeout, and it calls long after", async () => {
    const { engine, untilStatus } = await orderWorld({
      faults: [{ at: claim, fault: { kind: "zombie", ms: seconds(30) } }],
    });
    await untilStatus("SUCCEEDED");
    await engine.skip(seconds(60));

    const { entries } = engine.trace;
    expect(invocations(entries)).toEqual(["Sandbox.Timedout", "ok"]);
    // Its claim comes after the next invocation's, whose entry it finds.
    expect(entries.find(({ fault }) => fault === "zombie")).toMatchObject({ outcome: "refused" });
    const afterwards = entries.filter(({ actor, atMs }) => actor === "step-order-agent#1" && atMs > stepMs);
    expect(afterwards.length).toBeGreaterThan(0);
    expect(engine.journal.effects()).toHaveLength(1);
  });

  it("is what a zombie looks at right before it sends: past it nothing is sent", async () => {
    const { engine, untilStatus } = await orderWorld({
      side: "query",
      faults: [
        { at: { port: "dynamo", verb: "Get", ids: { table: "runs" } }, fault: { kind: "zombie", ms: seconds(30) } },
      ],
    });
    await untilStatus("SUCCEEDED");
    await engine.skip(seconds(60));
    expect(engine.journal.requests("place_order").filter(({ verb }) => verb === "execute")).toHaveLength(1);
    expect(engine.journal.effects()).toHaveLength(1);
  });
});

describe("a clock that jumps", () => {
  it("is that of one process: what it writes is dated ahead, and the next process's is not", async () => {
    const { engine, runId } = await orderWorld({
      faults: [{ at: claim, fault: { kind: "clock_jump", ms: seconds(30) } }],
    });
    await engine.runUntilIdle();
    const [entry] = await engine.stored.operations(runId);
    expect(entry?.created_at).toBe("2026-09-02T12:00:00.000Z");
    expect(entry?.committed_at).toBe("2026-09-02T12:00:30.000Z");
  });

  it("may be everybody's: what is written afterwards is dated ahead, and no timer moves", async () => {
    const { engine, untilStatus, history } = await orderWorld({ approval: true });
    await untilStatus("WAITING");
    engine.clock.jump(seconds(30));
    await engine.request("POST", `/approvals/${(await history()).run.run_id}:0000.review`, {
      decision: "approve",
      by: "kim",
    });
    expect((await history()).steps[0]?.created_at).toBe("2026-09-02T12:00:30.000Z");
    expect(engine.elapsedMs).toBe(0);
  });
});
