import { describe, expect, it } from "vitest";
import { z } from "zod";
import { at, double, httpError, testAgent } from "../../../infra/testing/index.ts";
import { operationId } from "../../../shared/operation/operation-id.ts";
import { byKey, days, defineAgent, hours, minutes, writeTool } from "../../../shared/index.ts";
import { happened, trip, tripWorld, type TripWorldOptions } from "../../builders/trip-agent.ts";

const refused = () => {
  throw httpError(400);
};
/** A trip whose payment is refused for good, after hotel, car and mail. */
const unpaid = (options: TripWorldOptions = {}) => tripWorld({ ...options, tools: { pay: refused, ...options.tools } });

const booked = ["book_hotel", "book_car", "send_mail"];
const undone = ["cancel_car", "cancel_hotel"];

describe("a run that fails", () => {
  it("undoes what it has done, latest first, once, and then fails for the reason it had", async () => {
    const world = await unpaid();
    const run = await world.start(trip);
    expect(await run.untilEnd()).toMatchObject({ status: "FAILED", outcome: "failed" });
    expect(happened(world)).toEqual([...booked, ...undone]);
    expect(await run.record()).toMatchObject({
      failure: { node: "pay", error: { code: "http_400" } },
      compensation: { because: "failed", ends: { status: "FAILED" } },
    });
  });

  it("undoes each operation by one of its own, under the business key of what it undoes", async () => {
    const world = await unpaid();
    const run = await world.start(trip);
    await run.untilEnd();
    const car = operationId(run.id, "car", "T-1");
    const undoing = operationId(run.id, "car.compensate", "T-1");
    const entries = await run.operations();
    expect(entries.find(({ operation_id }) => operation_id === undoing)).toMatchObject({
      status: "SUCCEEDED",
      action_name: "cancel_car",
      position: "0001.car.compensate",
      business_key: "T-1",
      external_ref: "cancel_car/1",
    });
    // What it came to is what has to be taken back.
    expect(world.requests("cancel_car")).toMatchObject([{ key: undoing, request: { ref: "book_car/1", trip: "T-1" } }]);
    expect(entries.find(({ operation_id }) => operation_id === car)).toMatchObject({ status: "SUCCEEDED" });
    expect((await run.steps()).map(({ position, kind }) => [position, kind])).toEqual([
      ["0000.hotel", "write"],
      ["0000.hotel.compensate", "write"],
      ["0001.car", "write"],
      ["0001.car.compensate", "write"],
      ["0002.mail", "write"],
    ]);
  });

  it("undoes nothing where its agent says nothing about undoing", async () => {
    const world = await unpaid({ compensates: false });
    const run = await world.start(trip);
    expect(await run.untilEnd()).toMatchObject({ status: "FAILED" });
    expect(happened(world)).toEqual(booked);
    expect(await run.record()).not.toHaveProperty("compensation");
  });

  it("fails at once where it has done nothing", async () => {
    const world = await tripWorld({ tools: { book_hotel: refused } });
    const run = await world.start(trip);
    expect(await run.untilEnd()).toMatchObject({ status: "FAILED" });
    expect(world.effects()).toEqual([]);
  });

  it("that a person may mend is parked and undoes nothing", async () => {
    const world = await tripWorld();
    world.fault(at.tool("pay"), { kind: "error", status: 503 }, { times: 9 });
    const run = await world.start(trip);
    expect(await run.untilParked()).toMatchObject({ node: "pay", error: { code: "http_503" } });
    expect(happened(world)).toEqual(booked);
    expect(await run.record()).not.toHaveProperty("compensation");
  });
});

describe("a run that came by a write twice", () => {
  const Nothing = z.object({});
  const Count = z.object({ n: z.number() });
  const write = (name: string) =>
    writeTool(name, {
      ...{
        version: 1,
        risk: "low",
        input: Count,
        output: z.object({ ref: z.string() }),
        downstream: byKey({ window: hours(24) }),
      },
      semanticFields: ["n"],
      execute: () => Promise.reject(new Error("a double stands in its place")),
    });
  /** Counts to two, booking each time, and then fails. */
  const twice = (keyOf: (n: number) => string, amountOf: (n: number) => number) =>
    testAgent(
      defineAgent("twice", { version: 1, input: Nothing })
        .compute("count", {
          output: Count,
          run: (state) => ({ n: ((state as { count?: { n: number } }).count?.n ?? 0) + 1 }),
        })
        .write("book", {
          tool: write("book"),
          with: ({ count }) => ({ n: amountOf(count.n) }),
          businessKey: ({ count }) => keyOf(count.n),
          compensate: { tool: write("unbook"), with: ({ count }) => count },
        })
        .route("again", { to: ["count", "fail"], choose: ({ count }) => (count.n < 2 ? "count" : "fail") })
        .write("fail", { tool: write("fail"), with: ({ count }) => count })
        .end(),
      {
        tools: {
          book: double.key({ window: hours(24), result: (_request: unknown, { n }) => ({ ref: `book/${n}` }) }),
          unbook: double.key({ window: hours(24), result: (_request: unknown, { n }) => ({ ref: `unbook/${n}` }) }),
          fail: refused,
        },
      },
    );

  it("under one business key undoes it once, as it was when it happened", async () => {
    const world = await twice(
      () => "one",
      () => 1,
    );
    await (await world.start({})).untilEnd();
    expect(world.effects("book")).toHaveLength(1);
    expect(world.effects("unbook")).toMatchObject([{ businessKey: "one", request: { n: 1 } }]);
  });

  it("under two undoes both, the second first, each as it was when it happened", async () => {
    const world = await twice(
      (n) => `key/${n}`,
      (n) => n,
    );
    const run = await world.start({});
    await run.untilEnd();
    expect(world.effects("unbook")).toMatchObject([
      { businessKey: "key/2", request: { n: 2 } },
      { businessKey: "key/1", request: { n: 1 } },
    ]);
    const undoing = (await run.steps())
      .map(({ position }) => position)
      .filter((position) => position.endsWith(".compensate"));
    expect(undoing).toEqual(["0001.book.compensate", "0004.book.compensate"]);
  });
});

describe("a run that is turned down", () => {
  it("by a reviewer undoes what it has done and ends as rejected", async () => {
    const world = await tripWorld({ review: true });
    const run = await world.start(trip);
    await run.reject("review");
    expect(await run.untilEnd()).toMatchObject({ status: "SUCCEEDED", outcome: "rejected" });
    expect(happened(world)).toEqual([...booked, ...undone]);
    expect(await run.record()).toMatchObject({ compensation: { because: "rejected" } });
  });

  it("by time undoes what it has done and ends as expired", async () => {
    const world = await tripWorld({ review: true });
    const run = await world.start(trip);
    await run.untilWaiting("review");
    await world.skip(days(1) + hours(1));
    expect(await run.untilEnd()).toMatchObject({ status: "SUCCEEDED", outcome: "expired" });
    expect(happened(world)).toEqual([...booked, ...undone]);
  });

  it("by whoever withdraws the question undoes what it has done", async () => {
    const world = await tripWorld({ review: true });
    const run = await world.start(trip);
    const { position } = await run.untilWaiting("review");
    const id = encodeURIComponent(`${run.id}:${position}`);
    expect(await world.engine.request("POST", `/approvals/${id}/cancel`, { by: "kim" })).toMatchObject({ status: 200 });
    expect(await run.untilEnd()).toMatchObject({ status: "SUCCEEDED", outcome: "cancelled" });
    expect(happened(world)).toEqual([...booked, ...undone]);
  });

  it("by a precondition, after a yes, undoes what it has done and ends for that reason", async () => {
    const world = await tripWorld({ review: true, unpayable: "the card has expired" });
    const run = await world.start(trip);
    await run.approve("review");
    expect(await run.untilEnd()).toMatchObject({ status: "SUCCEEDED", outcome: "precondition_failed" });
    expect(happened(world)).toEqual([...booked, ...undone]);
    expect(await run.record()).toMatchObject({ compensation: { because: "sent_back" } });
  });

  it("keeps what it has done where a reviewer says yes", async () => {
    const world = await tripWorld({ review: true });
    const run = await world.start(trip);
    await run.approve("review");
    expect(await run.untilEnd()).toMatchObject({ status: "SUCCEEDED", outcome: "completed" });
    expect(happened(world)).toEqual([...booked, "pay"]);
    expect(await run.record()).not.toHaveProperty("compensation");
  });
});

describe("a compensation", () => {
  it("that fails for now is tried again, within its own tool's budget", async () => {
    const world = await unpaid();
    world.fault(at.tool("cancel_car"), { kind: "error", status: 503 }, { times: 2 });
    const run = await world.start(trip);
    expect(await run.untilEnd()).toMatchObject({ status: "FAILED" });
    expect(happened(world)).toEqual([...booked, ...undone]);
  });

  it.each([
    ["for good", 1, 400, "http_400"],
    ["more often than its tool may be tried", 3, 503, "http_503"],
  ])("that fails %s parks the run, and a resume goes on undoing from there", async (_how, times, status, code) => {
    const world = await unpaid();
    world.fault(at.tool("cancel_car"), { kind: "error", status }, { times });
    const run = await world.start(trip);
    expect(await run.untilParked()).toMatchObject({
      node: "car.compensate",
      error: { code },
      next_move: expect.stringContaining("surefoot resume"),
    });
    expect(happened(world)).toEqual(booked);
    expect(await run.record()).toMatchObject({ status: "PARKED", compensation: { because: "failed" } });

    await run.resume();
    expect(await run.untilEnd()).toMatchObject({ status: "FAILED" });
    expect(await run.record()).toMatchObject({ failure: { node: "pay", error: { code: "http_400" } } });
    expect(happened(world)).toEqual([...booked, ...undone]);
  });

  it.each(["succeeded", "failed", "retry"] as const)(
    "in doubt parks the run until a person says: %s",
    async (outcome) => {
      const world = await unpaid({ cancelCar: "direct" });
      world.fault(at.tool("cancel_car"), outcome === "succeeded" ? "lost_ack" : "drop");
      const run = await world.start(trip);
      expect(await run.untilParked()).toMatchObject({ node: "car.compensate", error: { code: "operation_unknown" } });
      expect(happened(world)).not.toContain("cancel_hotel");

      await run.resolve("car.compensate", { outcome, ...(outcome === "succeeded" && { externalRef: "cancel_car/1" }) });
      if (outcome === "failed") {
        // It did not happen, so it is still owed.
        expect(await run.untilParked()).toMatchObject({ node: "car.compensate", error: { failure_class: "final" } });
        await run.resume();
      }
      expect(await run.untilEnd()).toMatchObject({ status: "FAILED" });
      expect(happened(world)).toEqual([...booked, ...undone]);
    },
  );

  it("is found out about by its own tool: the same key again, or a lookup", async () => {
    for (const cancelCar of ["key", "query"] as const) {
      const world = await unpaid({ cancelCar });
      world.fault(at.tool("cancel_car"), "lost_ack");
      const run = await world.start(trip);
      expect(await run.untilEnd()).toMatchObject({ status: "FAILED" });
      expect(happened(world)).toEqual([...booked, ...undone]);
    }
  });

  it("is handed to a queue where its delivery says so, and the run goes on from the ledger", async () => {
    const world = await unpaid({ cancelCar: "queue" });
    const run = await world.start(trip);
    expect(await run.untilEnd()).toMatchObject({ status: "FAILED" });
    expect(happened(world)).toEqual([...booked, ...undone]);
    expect(world.trace()).toContain("deliver#1");
  });

  it("is handed to a person where its delivery says so", async () => {
    const world = await unpaid({ cancelCar: "human" });
    const run = await world.start(trip);
    expect(await run.untilWaiting("car.compensate")).toMatchObject({ kind: "delivery" });
    expect(await run.record()).toMatchObject({ status: "WAITING", waiting_for: "car.compensate" });
    await run.resolve("car.compensate", { outcome: "succeeded", externalRef: "by-hand" });
    expect(await run.untilEnd()).toMatchObject({ status: "FAILED" });
    expect(happened(world)).toEqual([...booked, "cancel_hotel"]);
  });

  it("goes on where the execution that compensates is lost", async () => {
    const world = await unpaid({ cancelCar: "human" });
    const run = await world.start(trip);
    await run.untilWaiting("car.compensate");
    const { execution, state_machine_arn } = await run.record();
    world.engine.stepFunctions.stopExecution({
      executionArn: `${state_machine_arn.replace(":stateMachine:", ":execution:")}:${execution}`,
    });
    await world.skip(minutes(10));
    await run.resolve("car.compensate", { outcome: "succeeded", externalRef: "by-hand" });
    expect(await run.untilEnd()).toMatchObject({ status: "FAILED" });
    expect(happened(world)).toEqual([...booked, "cancel_hotel"]);
  });
});
