import { describe, expect, it } from "vitest";
import type { FaultRule, InjectedFault } from "../../../infra/in-process/injected-fault.ts";
import { minutes, seconds } from "../../../shared/index.ts";
import { orderWorld, type OrderOptions } from "./order-world.ts";

const tool = { port: "tool", verb: "execute" } as const;
const step = { port: "dynamo", verb: "Put", ids: { item: "STEP#0000.place" } } as const;
const claim = { port: "dynamo", verb: "Put", ids: { table: "ledger", status: "STARTED" } } as const;

/** A run under one fault, to its end. */
async function under(fault: InjectedFault, at: FaultRule["at"], options: OrderOptions = {}) {
  const world = await orderWorld({ ...options, faults: [{ at, fault }] });
  await world.engine.runUntilIdle();
  const { engine } = world;
  expect(engine.unspentFaults).toEqual([]);
  const struck = engine.trace.entries.filter((entry) => entry.fault === fault.kind);
  const requests = engine.journal.requests("place_order");
  return {
    ...world,
    struck: struck.map(({ outcome }) => outcome),
    sent: requests.filter(({ verb }) => verb === "execute").length,
    asked: requests.filter(({ verb }) => verb === "lookup").length,
    effects: engine.journal.effects("place_order").length,
  };
}

describe("a request to the database", () => {
  it("whose answer is lost has landed all the same", async () => {
    const { struck, status, effects, history } = await under({ kind: "lost_ack" }, step);
    expect(struck).toEqual(["ECONNRESET"]);
    expect([await status(), effects]).toEqual(["SUCCEEDED", 1]);
    const { steps, failures } = await history();
    // Written by the first try, dated before the failure that it saw.
    expect(steps.map(({ node }) => node)).toEqual(["place", "tally"]);
    expect(failures).toHaveLength(1);
  });

  it("that is refused by the service has not landed", async () => {
    const { struck, engine, status } = await under({ kind: "error" }, step);
    expect(struck).toEqual(["InternalServerError"]);
    expect(await status()).toBe("SUCCEEDED");
    expect(engine.trace.entries.filter(({ ids }) => ids["item"] === "STEP#0000.place")).toHaveLength(2);
  });

  it("that is throttled has not landed, and says so", async () => {
    expect((await under({ kind: "throttle" }, step)).struck).toEqual(["ThrottlingException"]);
  });

  it("that the SDK repeats meets its own write, and is recognised", async () => {
    const { struck, status, effects, engine } = await under({ kind: "duplicate" }, claim);
    expect(struck).toEqual(["refused"]);
    expect([await status(), effects]).toEqual(["SUCCEEDED", 1]);
    expect(engine.recorder.total("side_effect_conflict_total")).toBe(0);
  });
});

describe("a request to the other side", () => {
  it("whose response is dropped has happened, and is sent again with its key", async () => {
    expect(await under({ kind: "lost_ack" }, tool)).toMatchObject({ struck: ["ECONNRESET"], sent: 2, effects: 1 });
  });

  it("whose response is dropped is looked up where there is no key", async () => {
    const lost = await under({ kind: "lost_ack" }, tool, { side: "query" });
    expect(lost).toMatchObject({ sent: 1, asked: 1, effects: 1 });
    expect(await lost.status()).toBe("SUCCEEDED");
  });

  it("whose response is dropped is a person's to look at where there is neither", async () => {
    const lost = await under({ kind: "lost_ack" }, tool, { side: "none" });
    expect(lost).toMatchObject({ sent: 1, effects: 1 });
    expect(await lost.status()).toBe("PARKED");
  });

  it.each([
    [{ kind: "error" }, "ECONNREFUSED"],
    [{ kind: "error", status: 503 }, "Error"],
    [{ kind: "throttle" }, "Error"],
  ] satisfies [InjectedFault, string][])("that comes to %o has not arrived", async (fault, outcome) => {
    expect(await under(fault, tool)).toMatchObject({ struck: [outcome], sent: 1, effects: 1 });
  });

  it("that is throttled for a while is not sent again before", async () => {
    const { engine } = await under({ kind: "throttle", retryAfterSeconds: 300 }, tool);
    const [, again] = engine.trace.entries.filter(({ port }) => port === "tool");
    expect(again?.atMs).toBeGreaterThanOrEqual(minutes(5));
  });

  it("that arrives twice is two effects where no key tells them apart, and one where it does", async () => {
    expect(await under({ kind: "duplicate" }, tool, { side: "none" })).toMatchObject({ sent: 2, effects: 2 });
    expect(await under({ kind: "duplicate" }, tool)).toMatchObject({ sent: 2, effects: 1 });
  });

  it("that never arrives is given up at its abort", async () => {
    const { struck, sent, effects, engine } = await under({ kind: "drop" }, tool);
    expect({ struck, sent, effects }).toEqual({ struck: ["TimeoutError"], sent: 1, effects: 1 });
    const [, again] = engine.trace.entries.filter(({ port }) => port === "tool");
    expect(again?.atMs).toBeGreaterThanOrEqual(seconds(5));
  });

  it("whose answer is slow, but in time, is waited for", async () => {
    const { struck, sent, engine } = await under({ kind: "slow", ms: seconds(4) }, tool);
    expect({ struck, sent }).toEqual({ struck: ["ok"], sent: 1 });
    expect(engine.trace.entries.find(({ ids }) => ids["status"] === "SUCCEEDED")?.atMs).toBe(seconds(4));
  });

  it("whose answer is too slow is given up, and was an effect", async () => {
    const { struck, sent, asked, effects } = await under({ kind: "slow", ms: seconds(6) }, tool, { side: "query" });
    expect({ struck, sent, asked, effects }).toEqual({ struck: ["TimeoutError"], sent: 1, asked: 1, effects: 1 });
  });

  it("that lands after it was given up is found, and not sent again", async () => {
    const late = await under({ kind: "late_commit", ms: minutes(1) }, tool, { side: "query" });
    expect(late).toMatchObject({ struck: ["TimeoutError"], sent: 1, effects: 1 });
    expect(late.asked).toBeGreaterThan(1);
    expect(await late.status()).toBe("SUCCEEDED");
    const landed = late.engine.trace.entries.find(({ actor }) => actor === "on its way from step-order-agent#1");
    expect(landed).toMatchObject({ atMs: minutes(1), outcome: "ok" });
  });

  it("that hangs through its abort ends the process that waits for it", async () => {
    const hung = await under({ kind: "hang" }, tool);
    expect(hung).toMatchObject({ struck: ["no answer"], sent: 2, effects: 1 });
    const [first] = hung.engine.trace.entries.filter(({ ids }) => ids["function"] === "step-order-agent");
    expect(first?.outcome).toBe("Runtime.ExitError");
    expect(await hung.status()).toBe("SUCCEEDED");
  });
});

describe("a function", () => {
  const invoke = { port: "lambda", ids: { function: "step-order-agent" } } as const;

  it("that is invoked twice runs side by side with itself, and the first one's answer counts", async () => {
    const { engine, status, effects } = await under({ kind: "duplicate" }, invoke);
    expect([await status(), effects]).toEqual(["SUCCEEDED", 1]);
    const actors = new Set(engine.trace.entries.map(({ actor }) => actor));
    expect(actors).toContain("step-order-agent#1");
    expect(actors).toContain("step-order-agent#2");
  });

  it.each([
    [{ kind: "error" }, "Lambda.ServiceException"],
    [{ kind: "throttle" }, "Lambda.TooManyRequestsException"],
  ] as const)("that comes to %o is not run, and is asked for again", async (fault, error) => {
    const { engine, status, sent } = await under(fault, invoke);
    expect([await status(), sent]).toEqual(["SUCCEEDED", 1]);
    const invocations = engine.trace.entries.filter(({ ids }) => ids["function"] === "step-order-agent");
    expect(invocations).toHaveLength(2);
    expect(`Lambda.${invocations[0]?.outcome ?? ""}`).toBe(error);
    expect(engine.trace.entries.some(({ actor }) => actor === "step-order-agent#2")).toBe(false);
  });

  it("whose answer is lost has run, and its steps are reused", async () => {
    const { engine, status, sent } = await under({ kind: "lost_ack" }, invoke);
    expect([await status(), sent]).toEqual(["SUCCEEDED", 1]);
    expect(engine.trace.entries.some(({ actor }) => actor === "step-order-agent#1")).toBe(true);
  });
});

describe("a rule", () => {
  it("strikes the n-th call that fits, as often as it says", async () => {
    const { engine } = await orderWorld({
      faults: [{ at: { actor: "step-order-agent" }, fault: { kind: "delay", ms: 10 }, nth: 2, times: 2 }],
    });
    await engine.runUntilIdle();
    const own = engine.trace.entries.filter(({ actor }) => actor === "step-order-agent#1");
    expect(own.slice(0, 5).map(({ fault }) => fault ?? "-")).toEqual(["-", "delay", "delay", "-", "-"]);
  });

  it("that has not struck is told", async () => {
    const rule: FaultRule = { at: { port: "model" }, fault: { kind: "slow", ms: 1 } };
    const { engine } = await orderWorld({ faults: [rule] });
    await engine.runUntilIdle();
    expect(engine.unspentFaults).toEqual([rule]);
  });

  it("that cannot happen to its call stops the world, and says what can", async () => {
    const { engine } = await orderWorld({
      faults: [{ at: { port: "lambda", ids: { function: "step-order-agent" } }, fault: { kind: "crash_before" } }],
    });
    await expect(engine.runUntilIdle()).rejects.toThrow(
      /crash_before cannot happen to call \d+, lambda\.Invoke by states of .*: expected one of delay, lost_ack/u,
    );
  });
});
