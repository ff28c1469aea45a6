import { describe, expect, it } from "vitest";
import { isWrite } from "../../builders/dynamo-proxy.ts";
import { HttpError } from "../../builders/downstream.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf } from "../../builders/operation-world.ts";
import { runWorld } from "../../builders/run-world.ts";

const first = "plan+stock+review";
const second = "place+tally";

describe("a line", () => {
  const tables = localTables();

  it("runs from the start to the end, each node recorded once, and the run is closed", async () => {
    const world = await runWorld(tables);
    expect(await world.drive()).toBe("done");

    expect(await world.steps()).toEqual([
      "0000.plan → stock",
      "0001.stock → review",
      "0002.review → place",
      "0003.place → tally",
      "0004.tally → end",
    ]);
    expect(await world.state()).toMatchObject({
      plan: { amountCents: 4_200 },
      stock: { pieces: 3 },
      review: { outcome: "not_required" },
      place: { ref: "ref_1", amountCents: 4_200 },
      tally: { text: "ref_1/3" },
    });
    const { run, steps } = await world.history();
    expect(run).toMatchObject({ status: "SUCCEEDED", outcome: "completed" });
    expect(steps[0]).toMatchObject({ kind: "model", usage: { input_tokens: 10, output_tokens: 5 } });
    expect(steps[3]).toMatchObject({ kind: "write", operation_id: world.downstream.requests[0] });
  });

  it("returns ids only", async () => {
    const world = await runWorld(tables);
    expect(await world.step(first, "0000.plan")).toEqual({
      run_id: world.runId,
      position: "0003.place",
      next: "place",
    });
    expect(await world.step(second, "0003.place")).toEqual({
      run_id: world.runId,
      position: "0004.tally",
      next: "end",
    });
  });

  it("costs one durable write per node, three per write, and one to close the run", async () => {
    const world = await runWorld(tables);
    const from = world.proxy.requests.length;
    await world.drive();
    const writes = world.proxy.requests
      .slice(from)
      .filter(isWrite)
      .map(({ table, operation, item, values }) =>
        table === "ledger"
          ? `ledger ${String(item["status"])}`
          : `${operation} ${String(item["item"])} ${typeof values[":status"] === "string" ? values[":status"] : ""}`.trim(),
      );
    expect(writes).toEqual([
      "PutItem STEP#0000.plan",
      "PutItem STEP#0001.stock",
      "PutItem STEP#0002.review",
      "ledger STARTED",
      "ledger SUCCEEDED",
      "PutItem STEP#0003.place",
      "PutItem STEP#0004.tally",
      "UpdateItem RUN SUCCEEDED",
    ]);
  });

  it("that is entered again passes over what is recorded: nobody is asked twice, and nothing is written", async () => {
    const world = await runWorld(tables);
    const exit = await world.step(first, "0000.plan");
    const from = world.proxy.requests.length;
    expect(await world.step(first, "0000.plan")).toEqual(exit);
    expect(world.modelRequests).toHaveLength(1);
    expect(world.reads).toHaveLength(1);
    expect(world.proxy.requests.slice(from).filter(isWrite)).toEqual([]);
    expect(world.metrics.total("replayed_step_total")).toBe(3);
  });

  it("gives two invocations at once one history: the first writer of each position wins", async () => {
    const world = await runWorld(tables);
    const own = JSON.stringify;
    world.modelSays({ amountCents: 100 }, { amountCents: 200 });
    const exits = await Promise.all([world.step(first, "0000.plan"), world.step(first, "0000.plan")]);
    expect(own(exits[0])).toBe(own(exits[1]));
    expect(await world.steps()).toEqual(["0000.plan → stock", "0001.stock → review", "0002.review → place"]);
    const exit = await Promise.all([1, 2, 3].map(() => world.step(second, "0003.place").catch((e: Error) => e.name)));
    expect(exit.some((end) => typeof end === "object")).toBe(true);
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("hands over before a node that its time no longer holds, and goes on from there", async () => {
    const world = await runWorld(tables);
    world.modelDoes(async () => {
      world.clock.advance(50_000);
      return { amountCents: 1 };
    });
    // 60 s are left: 50 s go to the model, and the read needs 12.
    expect(await faultOf(world.step(first, "0000.plan", { killedInMs: 61_999 }))).toMatchObject({
      name: "surefoot.hand_over",
    });
    expect(await world.steps()).toEqual(["0000.plan → stock"]);
    expect(await world.step(first, "0000.plan", { killedInMs: 61_999 })).toMatchObject({ next: "place" });
    expect(world.modelRequests).toHaveLength(1);
  });

  it("starts its first node however little time is left: a hand-over that makes no progress would go on for ever", async () => {
    const world = await runWorld(tables);
    expect(await faultOf(world.step(first, "0000.plan", { killedInMs: 5_000 }))).toMatchObject({
      name: "surefoot.hand_over",
    });
    expect(await world.steps()).toEqual(["0000.plan → stock"]);
  });

  it("of an execution that no longer owns the run stops quietly and does nothing", async () => {
    const world = await runWorld(tables);
    await world.log.change(world.run, ["RUNNING"], { execution: `${world.runId}-2`, execution_attempt: 2 });
    const from = world.proxy.requests.length;
    expect(await faultOf(world.step(first, "0000.plan"))).toMatchObject({ name: "surefoot.stale" });
    expect(world.modelRequests).toEqual([]);
    expect(world.proxy.requests.slice(from).filter(isWrite)).toEqual([]);
  });

  it.each(["SUCCEEDED", "FAILED", "CANCELLED"] as const)("of a run that is %s stops quietly", async (status) => {
    const world = await runWorld(tables);
    await world.log.change(world.run, ["RUNNING"], { status });
    expect(await faultOf(world.step(first, "0000.plan"))).toMatchObject({ name: "surefoot.stale" });
    expect(world.modelRequests).toEqual([]);
  });

  it("of a run that nobody started stops quietly", async () => {
    const world = await runWorld(tables);
    expect(await faultOf(world.wait(first, "token", "another-run-1"))).toMatchObject({ name: "surefoot.stale" });
  });
});

describe("a node that fails", () => {
  const tables = localTables();

  it("is recorded with its reason and counted, and its repeat clears the way", async () => {
    const world = await runWorld(tables);
    world.modelSays(new HttpError(503, undefined), new HttpError(503, undefined));
    for (const attempts of [1, 2]) {
      expect(await faultOf(world.step(first, "0000.plan"))).toMatchObject({ name: "surefoot.retryable.plan" });
      expect((await world.history()).failures).toMatchObject([
        { position: "0000.plan", node: "plan", attempts, error: { code: "http_503", failure_class: "retryable" } },
      ]);
    }
    expect(await world.step(first, "0000.plan")).toMatchObject({ next: "place" });
    expect(world.modelRequests).toHaveLength(3);
    expect(world.metrics.total("activity_retry_total")).toBe(2);
  });

  it("is asked again no earlier than the server wants, and coming early costs no attempt", async () => {
    const world = await runWorld(tables);
    world.modelSays(new HttpError(429, 600));
    expect(await faultOf(world.step(first, "0000.plan"))).toMatchObject({ name: "surefoot.retryable.plan" });
    world.clock.advance(599_999);
    expect(await faultOf(world.step(first, "0000.plan"))).toMatchObject({ name: "surefoot.later" });
    expect(world.modelRequests).toHaveLength(1);
    expect((await world.history()).failures).toMatchObject([{ attempts: 1 }]);
    world.clock.advance(1);
    expect(await world.step(first, "0000.plan")).toMatchObject({ next: "place" });
  });

  it("for lack of an answer has a class of its own", async () => {
    const world = await runWorld(tables);
    world.modelDoes(() => new Promise(() => undefined));
    const ends = faultOf(world.step(first, "0000.plan"));
    await world.clock.timerOf(60_000);
    world.clock.advance(60_250);
    expect(await ends).toMatchObject({ name: "surefoot.timeout.plan" });
  });

  it("for good stops the run with the reason that a person needs", async () => {
    const world = await runWorld(tables);
    world.downstream.next({ kind: "status", status: 400 });
    expect(await world.drive()).toBe("FAILED");
    expect((await world.history()).run).toMatchObject({
      status: "FAILED",
      outcome: "failed",
      failure: { node: "place", position: "0003.place", attempts: 1, error: { code: "http_400" } },
    });
    expect(world.metrics.total("non_retryable_failure_total")).toBe(1);
    expect(world.metrics.total("retry_exhausted_total")).toBe(0);
  });

  it("says nothing of user data to the state machine", async () => {
    const world = await runWorld(tables);
    world.modelSays(new Error("customer Mrs Smith, card 4242"));
    const fault = await faultOf(world.step(first, "0000.plan"));
    expect(fault.message).toBe(`run ${world.runId} at 0000.plan: Error; surefoot trace ${world.runId} says more`);
  });

  it("whose outcome is unknown leaves a waiter for a person, and a repeat finds the same one", async () => {
    const world = await runWorld(tables);
    // Two lost answers and a refusal for good: the key proves nothing any more.
    world.downstream.next({ kind: "drop_response" }, { kind: "status", status: 400 });
    await world.step(first, "0000.plan");
    expect(await faultOf(world.step(second, "0003.place"))).toMatchObject({ name: "surefoot.retryable.place" });
    expect(await faultOf(world.step(second, "0003.place"))).toMatchObject({ name: "surefoot.unknown.place" });
    expect(await faultOf(world.step(second, "0003.place"))).toMatchObject({ name: "surefoot.unknown.place" });
    expect((await world.history()).waiters).toMatchObject([
      { kind: "resolution", position: "0003.place", line: second, operation_id: world.downstream.requests[0] },
    ]);
    expect(await world.wait(second, "token-1")).toBe("open");
    expect((await world.history()).run).toMatchObject({
      status: "PARKED",
      waiting_for: "place",
      failure: { position: "0003.place", error: { code: "operation_unknown", failure_class: "unknown" } },
    });
  });

  it("by running in circles is parked at the steps limit", async () => {
    const world = await runWorld(tables, { stepsMax: 3 });
    expect(await world.drive()).toBe("PARKED");
    expect((await world.history()).run).toMatchObject({
      status: "PARKED",
      failure: { position: "0003.place", error: { code: "steps_exhausted" } },
    });
    expect(world.downstream.requests).toEqual([]);
  });

  it("is counted once although DynamoDB's acknowledgement was lost", async () => {
    const world = await runWorld(tables);
    world.modelSays(new HttpError(503, undefined));
    world.proxy.on(({ item }) => item["item"] === "FAIL#0000.plan", { answer: "lose" });
    await faultOf(world.step(first, "0000.plan"));
    expect((await world.history()).failures).toMatchObject([{ attempts: 1 }]);
  });
});
