import { describe, expect, it } from "vitest";
import { ApprovalOutcome } from "../../../shared/approval/approval.ts";
import { resumeRun } from "../../../shared/run/resume-run.ts";
import { expireWait } from "../../../shared/run/wait-run.ts";
import { guardedAgent, type GuardedOptions, openShop } from "../../builders/guarded-agent.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf } from "../../builders/operation-world.ts";
import { runWorld } from "../../builders/run-world.ts";

const asking = "plan+review";
const sending = "place";
const dayMs = 24 * 3_600_000;

describe("a question that nobody has answered", () => {
  const tables = localTables();

  async function asked(options: Partial<GuardedOptions> = {}) {
    const shop = openShop();
    const world = await runWorld(tables, { amountCents: 9_900, agent: guardedAgent({ shop, ...options }) });
    await world.drive();
    return { world, shop };
  }

  it("is the same one when its execution is lost, and an answer given meanwhile counts", async () => {
    const { world } = await asked();
    const before = await world.waiter();
    world.clock.advance(dayMs);
    await resumeRun(world.runId, world.ports);
    await world.answer("approved", { comment: "while nobody ran it" });

    expect(await world.drive({ execution: 2 })).toBe("done");
    const { waiters, steps } = await world.history();
    expect(waiters).toHaveLength(1);
    expect(waiters[0]).toMatchObject({
      position: before.position,
      requested_at: before.requested_at,
      expires_at: before.expires_at,
      subject: before.subject,
    });
    expect(steps.filter(({ node }) => node === "review")).toHaveLength(1);
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("is the same one when it is asked again by its next execution, though the world has changed: that is checked at dispatch", async () => {
    const { world, shop } = await asked();
    const before = await world.waiter();
    shop.status = "shipped";
    await resumeRun(world.runId, world.ports);

    expect(await world.drive({ execution: 2 })).toBe("waits");
    const { waiters } = await world.history();
    expect(waiters).toHaveLength(1);
    expect(waiters[0]).toMatchObject({ position: before.position, subject: before.subject, status: "OPEN" });
  });

  it("counts no more where another version would send it: it is asked anew, and a late click on it does not count", async () => {
    const { world, shop } = await asked();
    const old = await world.waiter();
    const later = await runWorld(tables, { agent: guardedAgent({ shop, toolVersion: 2 }) });

    await world.step(asking, "0000.plan", { agent: later.agent });
    const { waiters, steps } = await world.history();
    expect(waiters).toMatchObject([
      { position: "0001.review", status: "ANSWERED", superseded: { reason: "version_changed" } },
      { position: "0002.review", status: "OPEN" },
    ]);
    expect(steps.map(({ position, next }) => `${position} → ${next}`)).toEqual([
      "0000.plan → review",
      "0001.review → review",
    ]);
    const output = steps[1]?.output;
    expect(ApprovalOutcome.parse(JSON.parse(output && "json" in output ? output.json : ""))).toMatchObject({
      outcome: "superseded",
      approval_id: `${world.runId}:${old.position}`,
      comment: "version_changed",
    });
  });

  it("that somebody answers at the very moment it is asked anew was answered; its check at dispatch asks anew", async () => {
    const { world, shop } = await asked();
    const later = await runWorld(tables, { agent: guardedAgent({ shop, toolVersion: 2 }) });
    world.proxy.on(
      ({ operation, item }) =>
        operation === "PutItem" && item["item"] === "STEP#0001.review" && item["run_id"] === world.runId,
      { before: async () => void (await world.answer("approved")) },
    );

    // Whoever asks anew loses, and goes on from the answer.
    expect(await world.step(asking, "0000.plan", { agent: later.agent })).toMatchObject({ next: "wait!" });
    expect((await world.history()).waiters).toHaveLength(1);
    expect((await world.waiter()).superseded).toBeUndefined();
    await faultOf(world.step(sending, "0001.review", { agent: later.agent }));
    expect((await world.history()).steps.at(-1)).toMatchObject({ outcome: "sent_back", next: "review" });
    expect(world.downstream.requests).toEqual([]);
  });

  it("leads back to the plan when its time is over, where the agent says so: the model learns that nobody answered", async () => {
    const { world } = await asked({ onExpire: "plan" });
    const first = await world.waiter();
    world.clock.advance(7 * dayMs + 1);
    await expireWait({ runId: world.runId, line: asking, execution: `${world.runId}-1` }, world.ports);
    world.modelSays({ amountCents: 300 });

    expect(await world.drive()).toBe("waits");
    expect(JSON.parse(world.modelRequests[1]?.data ?? "")).toEqual({
      amountCents: 9_900,
      rejection: { node: "review", reason: "expired" },
    });
    expect(await world.waiter()).toMatchObject({ node: "review", status: "OPEN" });
    expect((await world.waiter()).position > first.position).toBe(true);
    expect(world.downstream.requests).toEqual([]);
  });
});
