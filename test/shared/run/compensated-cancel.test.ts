import { describe, expect, it } from "vitest";
import { at, httpError, type TestRun, type TestWorld } from "../../../infra/testing/index.ts";
import { happened, trip, tripWorld, type TripWorldOptions } from "../../builders/trip-agent.ts";

const booked = ["book_hotel", "book_car", "send_mail"];
const undone = ["cancel_car", "cancel_hotel"];

/** `POST /runs/{id}/cancel`, and what it answers. */
const cancel = (world: TestWorld, run: TestRun, compensate: boolean) =>
  world.engine.request("POST", `/runs/${run.id}/cancel`, { by: "kim", compensate });

const statuses = async (run: TestRun) =>
  Object.fromEntries((await run.operations()).map(({ position, status }) => [position, status]));

describe("a run that is cancelled", () => {
  it("with compensation undoes what it has done in a new execution, and is open until then", async () => {
    const world = await tripWorld({ review: true });
    const run = await world.start(trip);
    await run.untilWaiting("review");
    expect(await cancel(world, run, true)).toMatchObject({
      status: 200,
      body: { status: "RUNNING", changed: true, compensating: true },
    });
    expect(await run.record()).toMatchObject({ status: "RUNNING", execution: `${run.id}-2` });
    expect(await run.untilEnd()).toMatchObject({ status: "CANCELLED", outcome: "cancelled" });
    expect(happened(world)).toEqual([...booked, ...undone]);
    expect(await cancel(world, run, true)).toMatchObject({
      status: 200,
      body: { changed: false, compensating: false },
    });
  });

  it("without it undoes nothing", async () => {
    const world = await tripWorld({ review: true });
    const run = await world.start(trip);
    await run.untilWaiting("review");
    expect(await cancel(world, run, false)).toMatchObject({ body: { status: "CANCELLED", compensating: false } });
    await world.runUntilIdle();
    expect(happened(world)).toEqual(booked);
  });

  it("with compensation is refused where its agent says nothing about undoing, and nothing is changed", async () => {
    const world = await tripWorld({ review: true, compensates: false });
    const run = await world.start(trip);
    await run.untilWaiting("review");
    const before = await run.record();
    expect(await cancel(world, run, true)).toMatchObject({
      status: 409,
      body: { error: { code: "not_compensable", message: expect.stringContaining("declares no way to undo") } },
    });
    expect(await run.record()).toEqual(before);
  });

  it("takes no decision while it is compensated", async () => {
    const world = await tripWorld({ review: true });
    const run = await world.start(trip);
    const { position } = await run.untilWaiting("review");
    await cancel(world, run, true);
    const decision = { decision: "approve", by: "lee" };
    const id = encodeURIComponent(`${run.id}:${position}`);
    expect(await world.engine.request("POST", `/approvals/${id}`, decision)).toMatchObject({
      status: 409,
      body: { error: { code: "run_ended" } },
    });
    await run.untilEnd();
    expect(happened(world)).not.toContain("pay");
  });

  it.each([true, false])(
    "in the middle of a payment that then happens has it recorded, and undone where that was asked for: %s",
    async (compensate) => {
      const world = await tripWorld();
      world.fault(at.tool("pay"), { kind: "slow", ms: 5_000 });
      const run = await world.start(trip);
      await world.engine.until(async () => world.effects("pay").length > 0);
      await cancel(world, run, compensate);
      expect(await run.untilEnd()).toMatchObject({ status: "CANCELLED" });
      await world.runUntilIdle();
      expect(happened(world)).toEqual([...booked, "pay", ...(compensate ? ["pay_back", ...undone] : [])]);
    },
  );

  it("right before a claim does not send it afterwards: the claim finds it withdrawn", async () => {
    const world = await tripWorld();
    // The process stands still between its last look at the run and its claim.
    world.fault(at.ledger("STARTED"), { kind: "delay", ms: 3_000 }, { nth: 4 });
    const run = await world.start(trip);
    await world.engine.until(async () => happened(world).includes("send_mail"));
    await cancel(world, run, true);
    expect(await run.untilEnd()).toMatchObject({ status: "CANCELLED" });
    await world.runUntilIdle();
    expect(happened(world)).toEqual([...booked, ...undone]);
    expect(await statuses(run)).toMatchObject({ "0003.pay": "FAILED_FINAL" });
  });

  it("while it is compensated stops there, and keeps what is not undone yet", async () => {
    const refused = () => {
      throw httpError(400);
    };
    const world = await tripWorld({ tools: { pay: refused } });
    world.fault(at.tool("cancel_hotel"), { kind: "error", status: 503 }, { times: 99 });
    const run = await world.start(trip);
    await run.untilParked();
    expect(await cancel(world, run, false)).toMatchObject({ body: { status: "CANCELLED", changed: true } });
    await world.runUntilIdle();
    expect(happened(world)).toEqual([...booked, "cancel_car"]);
  });
});

describe("an operation that is in doubt when its run is cancelled", () => {
  /** The payment's process dies once it was claimed. */
  async function inDoubt(options: TripWorldOptions, fault: "crash_before" | "crash_after") {
    const world = await tripWorld(options);
    world.fault(at.tool("book_car"), fault);
    const run = await world.start(trip);
    await world.engine.until(async () => (await statuses(run))["0001.car"] === "STARTED");
    await cancel(world, run, true);
    return { world, run };
  }

  it.each([
    ["happened", "crash_after", ["book_hotel", "book_car", "cancel_car", "cancel_hotel"]],
    ["did not happen", "crash_before", ["book_hotel", "cancel_hotel"]],
  ] as const)("and %s is looked up, never sent again, and undone only if it was", async (_what, fault, effects) => {
    for (const car of ["query", "key_and_query"] as const) {
      const { world, run } = await inDoubt({ car }, fault);
      expect(await run.untilEnd()).toMatchObject({ status: "CANCELLED" });
      expect(happened(world)).toEqual(effects);
      expect(world.requests("book_car").filter(({ verb }) => verb === "execute")).toHaveLength(
        fault === "crash_after" ? 1 : 0,
      );
    }
  });

  it.each([
    ["happened", "crash_after", "succeeded", ["book_hotel", "book_car", "cancel_car", "cancel_hotel"]],
    ["did not happen", "crash_before", "failed", ["book_hotel", "cancel_hotel"]],
    ["did not happen and might be tried again", "crash_before", "retry", ["book_hotel", "cancel_hotel"]],
  ] as const)(
    "and that nobody can look up waits for a person, who says that it %s",
    async (_what, fault, outcome, effects) => {
      const { world, run } = await inDoubt({}, fault);
      expect(await run.untilParked()).toMatchObject({ node: "car", error: { code: "operation_unknown" } });
      await run.resolve("car", { outcome, ...(outcome === "succeeded" && { externalRef: "book_car/1" }) });
      expect(await run.untilEnd()).toMatchObject({ status: "CANCELLED" });
      expect(happened(world)).toEqual(effects);
    },
  );

  it("and that a person was told to do waits for their word", async () => {
    const world = await tripWorld({ car: "human" });
    const run = await world.start(trip);
    await run.untilWaiting("car");
    await cancel(world, run, true);
    await run.resolve("car", { outcome: "succeeded", externalRef: "C-7" });
    expect(await run.untilEnd()).toMatchObject({ status: "CANCELLED" });
    expect(happened(world)).toEqual(["book_hotel", "cancel_car", "cancel_hotel"]);
    expect(world.requests("cancel_car")).toMatchObject([{ request: { ref: "C-7" } }]);
  });

  it("and that waits in a queue is withdrawn, and never delivered", async () => {
    const world = await tripWorld({ car: "queue", sweepEvery: 0 });
    world.fault(at.queue(), "drop");
    const run = await world.start(trip);
    await run.untilWaiting("car");
    await cancel(world, run, true);
    expect(await run.untilEnd()).toMatchObject({ status: "CANCELLED" });
    await world.sweep();
    await world.runUntilIdle();
    expect(happened(world)).toEqual(["book_hotel", "cancel_hotel"]);
    expect(await statuses(run)).toMatchObject({ "0001.car": "FAILED_FINAL" });
  });
});
