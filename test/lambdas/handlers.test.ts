import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createSettleHandler } from "../../lambdas/settle/settle-handler.ts";
import { createStepHandler } from "../../lambdas/step/step-handler.ts";
import { createWaitHandler } from "../../lambdas/wait/wait-handler.ts";
import { approvalFirstAgent, emptyWorld, type World } from "../builders/agents.ts";
import { localTables } from "../builders/local-tables.ts";
import { type ApiWorld, apiWorld, secretToken } from "./api-world.ts";

const tables = localTables();
const world: World = emptyWorld();
const agent = approvalFirstAgent(world);
const invocation = { getRemainingTimeInMillis: () => 60_000 };
let api: ApiWorld;
let tickets = 0;
let parked: Awaited<ReturnType<ApiWorld["park"]>>;

beforeAll(() => {
  api = apiWorld(tables, [agent]);
});
beforeEach(async () => {
  parked = await api.park(agent, `HANDLED-${++tickets}`, { paymentId: "pi_1", amountCents: 6_000 });
  world.refunds.length = 0;
});

const stepEvent = (over: object = {}) => ({
  run_id: parked.runId,
  position: "0000.review",
  line: "review",
  execution: parked.execution,
  ...over,
});

describe("the step function", () => {
  test("takes ids and gives ids", async () => {
    const exit = await createStepHandler(agent, api)(stepEvent(), invocation);

    expect(exit).toEqual({ run_id: parked.runId, position: "0000.review", next: "wait!" });
  });

  test("goes on after a yes, refunds once, and ends the run; a second delivery stops quietly", async () => {
    await api.post(parked.path, { decision: "approve", by: "ann" });
    const step = createStepHandler(agent, api);
    const event = stepEvent({ position: "0001.refund", line: "refund" });

    expect(await step(event, invocation)).toEqual({ run_id: parked.runId, position: "0001.refund", next: "end" });
    await expect(step(event, invocation)).rejects.toMatchObject({ name: "surefoot.stale" });
    expect(world.refunds).toHaveLength(1);
    expect((await api.get(`/runs/${parked.runId}`)).body).toMatchObject({ status: "SUCCEEDED", outcome: "completed" });
  });

  test("refuses a line of another version, naming agent and version", async () => {
    const step = createStepHandler(agent, api);

    await expect(step(stepEvent({ line: "gone" }), invocation)).rejects.toThrow(
      /^agent approval-first-agent version 1 has no line "gone": the state machine was compiled from another version$/,
    );
  });

  test.each([{}, { run_id: 7 }, { position: "nowhere" }, { line: undefined }, null])(
    "refuses the event %j before anything happens",
    async (over) => {
      const before = await api.traces();
      const event = over === null || Object.keys(over).length === 0 ? over : stepEvent(over);

      await expect(createStepHandler(agent, api)(event, invocation)).rejects.toThrow();
      expect(await api.traces()).toEqual(before);
    },
  );

  test("an execution that no longer owns the run does nothing", async () => {
    const before = await api.traces();
    const step = createStepHandler(agent, api)(stepEvent({ execution: `${parked.runId}-9` }), invocation);

    await expect(step).rejects.toMatchObject({ name: "surefoot.stale" });
    expect(await api.traces()).toEqual(before);
  });
});

describe("the wait function", () => {
  const wait = (action: "ask" | "expire", over: object = {}) =>
    createWaitHandler(api)({
      action,
      run_id: parked.runId,
      line: "review",
      execution: parked.execution,
      ...(action === "ask" && { task_token: secretToken }),
      ...over,
    });

  test("gives an id back, never the token", async () => {
    expect(await wait("ask", { task_token: "another" })).toEqual({ run_id: parked.runId });
  });

  test("wakes at once where the answer was first", async () => {
    await api.post(parked.path, { decision: "approve", by: "ann" });
    const woken = api.woken.length;
    await wait("ask", { task_token: "late-token" });

    expect(api.woken.slice(woken)).toEqual([{ taskToken: "late-token" }]);
  });

  test("an expiry is recorded, and says where it leads", async () => {
    expect(await wait("expire")).toEqual({ run_id: parked.runId, position: "0000.review", next: "end" });
    expect((await api.get(parked.path)).body).toMatchObject({ status: "expired" });
  });

  test("an expiry that comes after the answer follows the answer", async () => {
    await api.post(parked.path, { decision: "approve", by: "ann" });

    expect(await wait("expire")).toMatchObject({ next: "refund" });
    expect((await api.get(parked.path)).body).toMatchObject({ status: "approved" });
  });

  test.each([{ action: "sleep" }, { task_token: undefined }, { execution: undefined }])(
    "refuses the event with %j",
    async (over) => {
      await expect(wait("ask", over)).rejects.toThrow();
    },
  );
});

describe("the settle function", () => {
  const settle = (over: object = {}) =>
    createSettleHandler(api)({ run_id: parked.runId, execution: parked.execution, error: "Lambda.Unknown", ...over });

  test("parks a run whose platform failed, with the reason and the next move", async () => {
    expect(await settle()).toEqual({ run_id: parked.runId, status: "PARKED", next: "end" });
    const { failure } = (await api.get(`/runs/${parked.runId}`)).body;
    expect(failure.error).toMatchObject({
      code: "platform",
      message: expect.stringContaining("Lambda.Unknown") as string,
    });
    expect(failure.next_move).toContain(parked.runId);
  });

  test("leaves a run alone that another execution owns", async () => {
    await expect(settle({ execution: `${parked.runId}-2` })).rejects.toMatchObject({ name: "surefoot.stale" });
    expect((await api.get(`/runs/${parked.runId}`)).body.status).toBe("WAITING");
  });

  test("refuses an event without its ids", async () => {
    await expect(settle({ run_id: undefined })).rejects.toThrow();
  });
});
