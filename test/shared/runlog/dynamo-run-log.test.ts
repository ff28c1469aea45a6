import { describe, expect, it } from "vitest";
import { positionAt } from "../../../shared/runlog/position.ts";
import type { Step } from "../../../shared/runlog/step.ts";
import { loseAcknowledgement } from "../../builders/dynamo-proxy.ts";
import { localTables } from "../../builders/local-tables.ts";
import { runWorld } from "../../builders/run-world.ts";

describe("the run log", () => {
  const tables = localTables();

  const aStep = (runId: string, over: Partial<Step> = {}): Step => ({
    run_id: runId,
    position: positionAt(0, "plan"),
    node: "plan",
    kind: "model",
    fingerprint: "f",
    outcome: "done",
    output: { json: '{"n":1}' },
    next: "stock",
    workflow_version: 1,
    created_at: "2026-09-02T12:00:00.000Z",
    write_id: "mine",
    ...over,
  });

  it("keeps the first of two steps at one position, and gives it to the second", async () => {
    const { log, runId } = await runWorld(tables);
    const first = aStep(runId);
    const second = aStep(runId, { write_id: "theirs", output: { json: '{"n":2}' }, next: "elsewhere" });
    expect(await log.append(first)).toEqual({ written: true, record: first });
    expect(await log.append(second)).toEqual({ written: false, record: first });
    expect(await log.readStep(runId, first.position)).toEqual(first);
  });

  it("takes a step whose acknowledgement was lost for written", async () => {
    const { log, runId, proxy } = await runWorld(tables);
    const used = proxy.on(
      ({ item }) => item["run_id"] === runId && item["item"] === "STEP#0000.plan",
      loseAcknowledgement,
    );
    expect(await log.append(aStep(runId))).toMatchObject({ written: true });
    expect(used()).toBe(1);
  });

  it("gives steps in order of position, also past nine and past a thousand", async () => {
    const { log, runId } = await runWorld(tables);
    for (const ordinal of [1_000, 2, 10, 999, 0]) {
      await log.append(aStep(runId, { position: positionAt(ordinal, "plan"), write_id: `w${ordinal}` }));
    }
    expect((await log.read(runId))?.steps.map(({ position }) => position)).toEqual([
      "0000.plan",
      "0002.plan",
      "0010.plan",
      "0999.plan",
      "1000.plan",
    ]);
  });

  it("reads a run of many pages whole", async () => {
    const { log, runId } = await runWorld(tables);
    const large = { json: JSON.stringify("x".repeat(60_000)) };
    for (let ordinal = 0; ordinal < 25; ordinal++) {
      await log.append(aStep(runId, { position: positionAt(ordinal, "plan"), write_id: `w${ordinal}`, output: large }));
    }
    expect((await log.read(runId))?.steps).toHaveLength(25);
  });

  it("changes a run only for the execution that owns it, and only from the named states", async () => {
    const { log, run } = await runWorld(tables);
    expect(await log.change({ ...run, execution: "another-2" }, ["RUNNING"], { status: "PARKED" })).toBe(false);
    expect(await log.change(run, ["WAITING"], { status: "PARKED" })).toBe(false);
    expect(await log.change(run, ["RUNNING", "WAITING"], { status: "PARKED" })).toBe(true);
    expect(await log.readRun(run.run_id)).toMatchObject({ status: "PARKED", execution: run.execution });
  });

  it("takes a change whose acknowledgement was lost for made, although its own state is gone", async () => {
    const { log, run, proxy } = await runWorld(tables);
    const used = proxy.on(
      ({ operation, item }) => operation === "UpdateItem" && item["run_id"] === run.run_id,
      loseAcknowledgement,
    );
    const moved = { status: "RUNNING", execution: `${run.run_id}-2`, execution_attempt: 2 } as const;
    expect(await log.change(run, ["RUNNING"], moved)).toBe(true);
    expect(used()).toBe(1);
  });

  it("says of a run why it stands still only while it does", async () => {
    const { log, run } = await runWorld(tables);
    await log.change(run, ["RUNNING"], { status: "WAITING", waiting_for: "review" });
    expect((await log.readRun(run.run_id))?.waiting_for).toBe("review");
    await log.change(run, ["WAITING"], { status: "RUNNING" });
    expect((await log.readRun(run.run_id))?.waiting_for).toBeUndefined();
  });

  it("lists the runs of an agent and of a workflow, newest first, and an open one until it ends", async () => {
    const { log, run, workflowId } = await runWorld(tables);
    const open = async () => (await log.listOpenRuns()).some(({ run_id }) => run_id === run.run_id);
    expect((await log.listRunsOfWorkflow(workflowId)).map(({ run_id }) => run_id)).toEqual([run.run_id]);
    expect((await log.listRuns({ agent: "order-agent", limit: 1_000 })).map(({ run_id }) => run_id)).toContain(
      run.run_id,
    );
    expect(await log.listRuns({ agent: "order-agent", limit: 1 })).toHaveLength(1);
    expect(await open()).toBe(true);
    await log.change(run, ["RUNNING"], { status: "SUCCEEDED", outcome: "completed" });
    expect(await open()).toBe(false);
  });

  it("knows nothing of a run that was never started", async () => {
    const { log } = await runWorld(tables);
    expect(await log.read("no-such-run")).toBeUndefined();
    expect(await log.readRun("no-such-run")).toBeUndefined();
    expect(await log.readStep("no-such-run", positionAt(0, "plan"))).toBeUndefined();
    expect(await log.readWaiter("no-such-run", positionAt(0, "plan"))).toBeUndefined();
    expect(await log.registerToken("no-such-run", positionAt(0, "plan"), "token", 1)).toBe(false);
  });

  it("refuses a position beyond four digits: they would no longer sort", () => {
    expect(positionAt(9_999, "plan")).toBe("9999.plan");
    expect(() => positionAt(10_000, "plan")).toThrow();
  });
});
