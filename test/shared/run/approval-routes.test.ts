import { describe, expect, it } from "vitest";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf } from "../../builders/operation-world.ts";
import { runWorld } from "../../builders/run-world.ts";

const first = "plan+stock+review";
const second = "place+tally";
const large = 9_900;

describe("an approval", () => {
  const tables = localTables();

  it("parks the run with the frozen request, and goes on once it is given", async () => {
    const world = await runWorld(tables, { amountCents: large });
    expect(await world.drive()).toBe("waits");
    const { run, waiters } = await world.history();
    expect(run).toMatchObject({ status: "WAITING", waiting_for: "review" });
    expect(waiters).toMatchObject([
      {
        position: "0002.review",
        kind: "approval",
        line: first,
        routes: { approved: "place", rejected: "plan", expired: "end" },
        requested_at: "2026-09-02T12:00:00.000Z",
        expires_at: "2026-09-09T12:00:00.000Z",
        status: "OPEN",
        risk: "high",
      },
    ]);
    const waiting = await world.waiter();
    expect(await world.store.read(waiting.operation_id ?? "")).toMatchObject({ status: "PENDING", attempt: 0 });
    expect(world.downstream.requests).toEqual([]);

    expect(await world.answer("approved")).toMatchObject({ mine: true, wake: "woken" });
    expect([...world.tokens.values()]).toEqual(["succeeded"]);
    expect(await world.step(second, "0002.review")).toMatchObject({ next: "end" });
    expect(world.downstream.effects).toMatchObject([{ key: waiting.operation_id, receipt: { amountCents: large } }]);
    expect((await world.history()).run).toMatchObject({ status: "SUCCEEDED", outcome: "completed" });
    expect(world.metrics.total("approval_wait_seconds")).toBe(0);
  });

  it("survives a crash after its PENDING request: the same request is shown, and it is asked once", async () => {
    const world = await runWorld(tables, { amountCents: large });
    const crash = { line: first, at: { when: "after", call: "ledger.propose" } } as const;
    expect(await world.drive({ crash })).toBe("waits");
    expect((await world.history()).waiters).toHaveLength(1);
    await world.answer("approved");
    await world.step(second, "0002.review");
    expect(world.downstream.effects).toHaveLength(1);
    expect(world.modelRequests).toHaveLength(1);
  });

  it("that is refused leads back to the plan, which sees who turned it back and why", async () => {
    const world = await runWorld(tables, { amountCents: large });
    await world.drive();
    await world.answer("rejected", { comment: "half of it, please" });
    expect([...world.tokens.values()]).toEqual(["surefoot.rejected"]);

    world.modelSays({ amountCents: 4_950 });
    expect(await world.step(first, "0002.review")).toMatchObject({ next: "place", position: "0006.place" });
    expect(JSON.parse(world.modelRequests[1]?.data ?? "")).toEqual({
      amountCents: large,
      rejection: { node: "review", reason: "rejected", comment: "half of it, please", by: "kim" },
    });
    expect(await world.steps()).toEqual([
      "0000.plan → stock",
      "0001.stock → review",
      "0002.review → plan",
      "0003.plan → stock",
      "0004.stock → review",
      "0005.review → place",
    ]);
    await world.step(second, "0006.place");
    expect(world.downstream.effects).toMatchObject([{ receipt: { amountCents: 4_950 } }]);
  });

  it("that is refused to the end closes the run, and nothing was sent", async () => {
    const world = await runWorld(tables, { amountCents: large, onReject: "end" });
    await world.drive();
    await world.answer("rejected");
    expect(await world.step(first, "0002.review")).toMatchObject({ next: "end", position: "0002.review" });
    expect((await world.history()).run).toMatchObject({ status: "SUCCEEDED", outcome: "rejected" });
    expect(world.downstream.requests).toEqual([]);
  });

  it("that was answered before the Task returned still leaves by the wait, whose route is the answer's", async () => {
    const world = await runWorld(tables, { amountCents: large });
    // The Task dies after it has asked; somebody answers before its repeat.
    await faultOf(world.step(first, "0000.plan", { crash: { when: "after", call: "log.putWaiter" } }));
    await world.answer("approved");
    expect(await world.step(first, "0000.plan")).toEqual({
      run_id: world.runId,
      position: "0002.review",
      next: "wait!",
    });
    expect(await world.wait(first, "token-1")).toBe("succeeded");
    expect(await world.step(second, "0002.review")).toMatchObject({ next: "end" });
    expect(world.downstream.effects).toHaveLength(1);
  });
});

describe("a dispatch that is checked again", () => {
  const tables = localTables();

  async function approved(options: Parameters<typeof runWorld>[1] = {}) {
    const world = await runWorld(tables, { amountCents: large, ...options });
    await world.drive();
    return world;
  }

  it("goes back when the decision was on another request", async () => {
    const world = await approved();
    await world.answer("approved", { payload_digest: "another" });
    expect(await faultOf(world.step(second, "0002.review"))).toMatchObject({ name: "surefoot.sent_back.place" });
    expect((await world.history()).steps.at(-1)).toMatchObject({
      position: "0003.place",
      outcome: "sent_back",
      next: "plan",
      output: { json: '{"node":"place","reason":"digest_changed"}' },
    });
    expect(world.downstream.requests).toEqual([]);
  });

  it("goes back when the decision was on another version of the tool", async () => {
    const world = await approved();
    await world.answer("approved", { tool_version: 7 });
    expect(await faultOf(world.step(second, "0002.review"))).toMatchObject({ name: "surefoot.sent_back.place" });
    expect((await world.history()).steps.at(-1)?.output).toEqual({
      json: '{"node":"place","reason":"version_changed"}',
    });
  });

  it.each([
    [0, "at its last millisecond it holds"],
    [1, "a millisecond later it has expired"],
  ])("is bound to the decision's time: +%i ms, %s", async (lateMs) => {
    const world = await approved();
    await world.answer("approved");
    world.clock.advance(7 * 24 * 3_600_000 + lateMs);
    if (lateMs === 0) {
      expect(await world.step(second, "0002.review")).toMatchObject({ next: "end" });
    } else {
      expect(await faultOf(world.step(second, "0002.review"))).toMatchObject({ name: "surefoot.sent_back.place" });
      expect((await world.history()).steps.at(-1)?.output).toEqual({ json: '{"node":"place","reason":"expired"}' });
      expect(world.downstream.requests).toEqual([]);
    }
  });

  it("goes back when the world has changed, and the plan sees in which words", async () => {
    let left: true | string = "0 cents are left";
    const world = await approved({ precondition: () => left });
    await world.answer("approved");
    expect(await faultOf(world.step(second, "0002.review"))).toMatchObject({ name: "surefoot.sent_back.place" });

    world.modelSays({ amountCents: 10 });
    left = true;
    expect(await world.step(first, "0002.review")).toMatchObject({ next: "place", position: "0007.place" });
    expect(JSON.parse(world.modelRequests[1]?.data ?? "")).toEqual({
      amountCents: large,
      rejection: { node: "place", reason: "precondition_failed", comment: "0 cents are left" },
    });
    await world.step(second, "0007.place");
    expect(world.downstream.effects).toMatchObject([{ receipt: { amountCents: 10 } }]);
  });

  it("goes back too when the process died after recording that: the repeat says the same", async () => {
    const world = await approved({ precondition: () => "0 cents are left" });
    await world.answer("approved");
    await faultOf(world.step(second, "0002.review", { crash: { when: "after", call: "log.append" } }));
    expect(await faultOf(world.step(second, "0002.review"))).toMatchObject({ name: "surefoot.sent_back.place" });
    expect((await world.history()).steps.filter(({ outcome }) => outcome === "sent_back")).toHaveLength(1);
  });
});
