import { describe, expect, it } from "vitest";
import type { FaultRule } from "../../../infra/in-process/injected-fault.ts";
import { days } from "../../../shared/index.ts";
import { orderAgent, orderWorld } from "./order-world.ts";

const wakeUp: FaultRule["at"] = { port: "sfn", verb: "SendTaskSuccess" };

describe("several executors of one run", () => {
  it.each([1, 2, 3, 4, 5])("take turns by the seed and place one order, seed %i", async (seed) => {
    const { engine, runId, untilStatus } = await orderWorld({ seed, side: "query", approval: true });
    await untilStatus("WAITING");
    const approve = () => engine.request("POST", `/approvals/${runId}:0000.review`, { decision: "approve", by: "kim" });
    const resume = () => engine.request("POST", `/runs/${runId}/resume`, { by: "kim" });
    const [first, second] = await Promise.all([approve(), approve(), resume(), engine.sweep()]);
    await engine.runUntilIdle();

    expect([first.status, second.status]).toEqual([200, 200]);
    expect(engine.journal.effects()).toHaveLength(1);
    expect((await engine.stored.history(runId))?.run.status).toBe("SUCCEEDED");
  });

  it("leave the run to the newest execution: the older one stops quietly", async () => {
    const { engine, runId, untilStatus } = await orderWorld({ approval: true });
    await untilStatus("WAITING");
    expect((await engine.request("POST", `/runs/${runId}/resume`, { by: "kim" })).status).toBe(200);
    await untilStatus("WAITING");
    await engine.request("POST", `/approvals/${runId}:0000.review`, { decision: "approve", by: "kim" });
    await untilStatus("SUCCEEDED");
    const executions = new Set(engine.trace.entries.flatMap(({ ids }) => ids["execution"] ?? []));
    expect([...executions]).toEqual([`${runId}-1`, `${runId}-2`]);
  });
});

describe("a wake-up", () => {
  it("that never arrives is sent again by the sweep", async () => {
    const { engine, untilStatus, approve } = await orderWorld({
      approval: true,
      faults: [{ at: wakeUp, fault: { kind: "drop" } }],
    });
    await untilStatus("WAITING");
    expect(await approve()).toBe(500);
    await untilStatus("SUCCEEDED");
    const woken = engine.trace.entries.filter(({ verb }) => verb === "SendTaskSuccess");
    expect(woken.map(({ actor, outcome }) => [actor, outcome])).toEqual([
      ["decide#1", "ECONNRESET"],
      ["sweep#1", "ok"],
    ]);
  });

  it("that is sent twice is good once", async () => {
    const { engine, untilStatus, approve } = await orderWorld({
      approval: true,
      faults: [{ at: wakeUp, fault: { kind: "duplicate" } }],
    });
    await untilStatus("WAITING");
    expect(await approve()).toBe(200);
    await untilStatus("SUCCEEDED");
    expect(engine.trace.entries.find(({ fault }) => fault === "duplicate")?.outcome).toBe("TaskTimedOut");
  });
});

describe("a deployment", () => {
  it("starts new runs on the new version and leaves an open one on its own", async () => {
    const { engine, runId, untilStatus, approve } = await orderWorld({ approval: true });
    await untilStatus("WAITING");
    engine.deploy({ ...orderAgent({ approval: true }), version: 2 });
    const next = await engine.request("POST", "/runs", {
      agent: "order-agent",
      workflow_id: "task-2",
      input: { order: "ORD-2", cents: 1 },
    });
    await engine.runUntilIdle();
    await approve();
    await untilStatus("SUCCEEDED");

    const { run_id: nextId } = next.body as { readonly run_id: string };
    expect((await engine.stored.history(runId))?.run.workflow_version).toBe(1);
    expect((await engine.stored.history(nextId))?.run.workflow_version).toBe(2);
    const functionOf = (id: string) =>
      engine.trace.entries.find(({ ids }) => ids["execution"] === `${id}-1` && ids["function"])?.ids["function"];
    expect([functionOf(runId), functionOf(nextId)]).toEqual(["step-order-agent", "step-order-agent-2"]);
  });
});

describe("the API", () => {
  it("is answered by the code that answers on AWS", async () => {
    const { engine, runId } = await orderWorld({ approval: true });
    await engine.runUntilIdle();
    const { body } = await engine.request("GET", "/approvals");
    expect(body).toMatchObject({ approvals: [{ run_id: runId, node: "review", status: "pending" }] });
    expect(await engine.request("GET", `/runs/${runId}`)).toMatchObject({ status: 200, body: { status: "WAITING" } });
    await expect(engine.request("GET", "/nowhere")).rejects.toThrow("the HTTP API has no GET /nowhere");
  });

  it("whose function dies answers 502, and what it had written counts", async () => {
    const { engine, runId, untilStatus, approve } = await orderWorld({
      approval: true,
      faults: [{ at: wakeUp, fault: { kind: "crash_before" } }],
    });
    await untilStatus("WAITING");
    await engine.skip(days(1));
    expect(await approve()).toBe(502);
    await untilStatus("SUCCEEDED");
    expect((await engine.stored.history(runId))?.steps[0]).toMatchObject({ node: "review", outcome: "done" });
  });
});
