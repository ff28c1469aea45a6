import { describe, expect, it } from "vitest";
import { resumeRun } from "../../../shared/run/resume-run.ts";
import { inputBytesMax, startRun } from "../../../shared/run/start-run.ts";
import { refuse } from "../../builders/dynamo-proxy.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf } from "../../builders/operation-world.ts";
import { runWorld } from "../../builders/run-world.ts";

const arn = "arn:aws:states:us-east-1:000000000000:stateMachine:order-agent";
const first = "plan+stock+review";

describe("a start", () => {
  const tables = localTables();

  it("creates the run and one execution that carries ids only", async () => {
    const world = await runWorld(tables);
    expect(world.run).toMatchObject({
      agent: "order-agent",
      workflow_version: 1,
      status: "RUNNING",
      execution: `${world.runId}-1`,
      execution_attempt: 1,
    });
    expect(world.runId).toMatch(/^order-agent-20260902-[0-9a-z]{12}$/u);
    expect(world.executions).toEqual([
      {
        name: `${world.runId}-1`,
        input: { run_id: world.runId, position: "0000.plan", next: "plan" },
      },
    ]);
  });

  it("of the same workflow again gives the run that exists", async () => {
    const world = await runWorld(tables);
    const again = await world.start();
    expect(again).toMatchObject({ created: false, sameInput: true, run: { run_id: world.runId } });
    expect(world.executions).toHaveLength(1);
  });

  it("of the same workflow with another input starts nothing, and says so", async () => {
    const world = await runWorld(tables);
    const other = { workflowId: world.workflowId, input: { ...world.input, amountCents: 1 }, allowNewRun: false };
    const again = await startRun(world.agent, arn, other, world.ports);
    expect(again).toMatchObject({ created: false, sameInput: false, run: { run_id: world.runId } });
  });

  it("after the end gives the ended run, unless a new one may follow", async () => {
    const world = await runWorld(tables);
    await world.drive();
    const request = { workflowId: world.workflowId, input: world.input, allowNewRun: false };
    expect(await startRun(world.agent, arn, request, world.ports)).toMatchObject({
      created: false,
      run: { run_id: world.runId, status: "SUCCEEDED" },
    });
    expect(world.executions).toHaveLength(1);

    const next = await startRun(world.agent, arn, { ...request, allowNewRun: true }, world.ports);
    expect(next.created).toBe(true);
    expect(next.run.run_id).not.toBe(world.runId);
    expect(await startRun(world.agent, arn, { ...request, allowNewRun: true }, world.ports)).toMatchObject({
      created: false,
      run: { run_id: next.run.run_id },
    });
    expect(world.executions).toHaveLength(2);
  });

  it.each([false, true])("twenty times at once creates one run (a new one may follow: %s)", async (allowNewRun) => {
    const world = await runWorld(tables);
    if (allowNewRun) await world.drive();
    const workflowId = allowNewRun ? world.workflowId : `${world.workflowId}-parallel`;
    const before = world.executions.length;
    const starts = await Promise.all(
      Array.from({ length: 20 }, () =>
        startRun(world.agent, arn, { workflowId, input: world.input, allowNewRun }, world.ports),
      ),
    );
    expect(new Set(starts.map(({ run }) => run.run_id)).size).toBe(1);
    expect(starts.filter(({ created }) => created)).toHaveLength(1);
    expect(world.executions).toHaveLength(before + 1);
  });

  it("whose caller died between the pointer and the run is completed by the next, under the id that was promised", async () => {
    const world = await runWorld(tables);
    const request = { workflowId: `${world.workflowId}-cut`, input: world.input, allowNewRun: false };
    let promised: unknown;
    world.proxy.on(({ item }) => item["run_id"] === `WORKFLOW#order-agent#${request.workflowId}`, {
      after: ({ item }) => {
        promised = item["current_run_id"];
      },
    });
    world.proxy.on(({ item }) => item["item"] === "RUN" && item["workflow_id"] === request.workflowId, refuse, 4);
    await expect(startRun(world.agent, arn, request, world.ports)).rejects.toThrow();

    const again = await startRun(world.agent, arn, request, world.ports);
    expect(again.created).toBe(true);
    expect(again.run).toMatchObject({ run_id: promised, execution: `${String(promised)}-1` });
    expect(world.executions.at(-1)).toMatchObject({ name: `${String(promised)}-1`, input: { run_id: promised } });
    expect((await startRun(world.agent, arn, request, world.ports)).created).toBe(false);
  });

  it("whose caller died before its execution was started is completed by the next", async () => {
    const world = await runWorld(tables);
    const request = { workflowId: `${world.workflowId}-cut`, input: world.input, allowNewRun: false };
    const broken = { ...world.ports, executions: { start: () => Promise.reject(new Error("died")) } };
    await expect(startRun(world.agent, arn, request, broken)).rejects.toThrow("died");
    const again = await startRun(world.agent, arn, request, world.ports);
    expect(again.created).toBe(false);
    expect(world.executions.at(-1)?.name).toBe(`${again.run.run_id}-1`);
  });

  it("whose acknowledgements were lost is a start", async () => {
    const world = await runWorld(tables);
    const request = { workflowId: `${world.workflowId}-lost`, input: world.input, allowNewRun: false };
    const used = world.proxy.on(
      ({ item }) => String(item["run_id"]).includes("lost") || item["workflow_id"] === request.workflowId,
      { answer: "lose" },
      2,
    );
    expect(await startRun(world.agent, arn, request, world.ports)).toMatchObject({ created: true });
    expect(used()).toBe(2);
  });

  it.each([
    ["a wrong field", { order: 7, amountCents: 1 }, "invalid_input", "input.order"],
    ["no object at all", "ORD-1", "invalid_input", "input"],
    ["too many bytes", { order: "é".repeat(inputBytesMax / 2), amountCents: 1 }, "input_too_large", "6291456 bytes"],
  ])("with %s is refused before anything is written", async (_what, input, code, says) => {
    const world = await runWorld(tables);
    const from = world.proxy.requests.length;
    const bad = { workflowId: "never", input, allowNewRun: false };
    const fault = await faultOf(startRun(world.agent, arn, bad, world.ports));
    expect(fault).toMatchObject({ name: "BadRequest", code });
    expect(fault.message).toContain(says);
    expect(world.proxy.requests.slice(from)).toEqual([]);
  });
});

describe("a resume", () => {
  const tables = localTables();

  it("moves the run to a new execution that enters where the log ends, and the old one is stale", async () => {
    const world = await runWorld(tables);
    await faultOf(world.step(first, "0000.plan", { crash: { when: "after", call: "log.append", nth: 2 } }));
    world.clock.advance(90_000);
    expect(await resumeRun(world.runId, world.ports)).toEqual({
      resumed: true,
      execution: `${world.runId}-2`,
    });
    expect(world.executions.at(-1)).toEqual({
      name: `${world.runId}-2`,
      input: { run_id: world.runId, position: "0001.stock", next: "review" },
    });
    expect(world.metrics.total("workflow_resume_total")).toBe(1);
    expect(world.metrics.total("checkpoint_age")).toBe(90);

    expect(await faultOf(world.step(first, "0000.plan"))).toMatchObject({ name: "surefoot.stale" });
    expect(await world.drive({ execution: 2 })).toBe("done");
    expect(world.modelRequests).toHaveLength(1);
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("of a run without steps enters at its first node", async () => {
    const world = await runWorld(tables);
    await resumeRun(world.runId, world.ports);
    expect(world.executions.at(-1)?.input).toEqual({ run_id: world.runId, position: "0000.plan", next: "plan" });
  });

  it("of a run that waits asks nobody again: the new execution takes the waiter over", async () => {
    const world = await runWorld(tables, { amountCents: 9_900 });
    await world.drive();
    const asked = await world.waiter();
    await resumeRun(world.runId, world.ports);
    expect(await world.drive({ execution: 2 })).toBe("waits");
    const { waiters } = await world.history();
    expect(waiters).toHaveLength(1);
    expect(waiters[0]).toMatchObject({ requested_at: asked.requested_at, expires_at: asked.expires_at });
    expect(await world.answer("approved")).toMatchObject({ wake: "woken" });
  });

  it("of a run whose last step was recorded but which was not closed closes it", async () => {
    const world = await runWorld(tables);
    await world.step(first, "0000.plan");
    const crash = { when: "after", call: "log.append", nth: 2 } as const;
    await faultOf(world.step("place+tally", "0003.place", { crash }));
    await resumeRun(world.runId, world.ports);
    expect(world.executions.at(-1)?.input).toEqual({
      run_id: world.runId,
      position: "0004.tally",
      next: "tally",
    });
    expect(await world.drive({ execution: 2 })).toBe("done");
    expect((await world.history()).run).toMatchObject({ status: "SUCCEEDED", outcome: "completed" });
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("of a parked run clears why it was parked", async () => {
    const world = await runWorld(tables, { stepsMax: 3 });
    expect(await world.drive()).toBe("PARKED");
    await resumeRun(world.runId, world.ports);
    const { run } = await world.history();
    expect(run).toMatchObject({ status: "RUNNING", execution_attempt: 2 });
    expect(run.failure).toBeUndefined();
  });

  it("twenty times at once moves it once", async () => {
    const world = await runWorld(tables);
    const resumes = await Promise.all(Array.from({ length: 20 }, () => resumeRun(world.runId, world.ports)));
    const moved = resumes.filter(({ resumed }) => resumed);
    expect(moved.length).toBeGreaterThanOrEqual(1);
    expect(world.executions).toHaveLength(1 + moved.length);
    expect((await world.history()).run.execution_attempt).toBe(1 + moved.length);
  });

  it.each(["SUCCEEDED", "FAILED", "CANCELLED"] as const)(
    "of a run that is %s is refused, with the reason",
    async (status) => {
      const world = await runWorld(tables);
      await world.log.change(world.run, ["RUNNING"], { status });
      expect(await resumeRun(world.runId, world.ports)).toEqual({
        resumed: false,
        why: `run ${world.runId} has ended: ${status}`,
      });
      expect(await resumeRun("no-such-run", world.ports)).toEqual({
        resumed: false,
        why: "there is no run no-such-run",
      });
    },
  );
});
