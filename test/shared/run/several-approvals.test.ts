import { describe, expect, it } from "vitest";
import { type Agent, days, defineAgent } from "../../../shared/index.ts";
import { answerApproval } from "../../../shared/run/answer-waiter.ts";
import { cancelApproval } from "../../../shared/run/cancel-approval.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf } from "../../builders/operation-world.ts";
import { type AgentParts, planPrompt, Ticket } from "../../builders/order-agent.ts";
import { decision, runWorld } from "../../builders/run-world.ts";
import { z } from "zod";

const Plan = z.object({ amountCents: z.number().int() });
const dayMs = 24 * 3_600_000;

/** plan → legal → finance → place. Each approval says for itself where it leads when it no longer holds. */
const twiceGuarded =
  (budget: { leftCents: number }) =>
  ({ placeOrder }: AgentParts): Agent => {
    const show = ({ plan }: { plan: z.infer<typeof Plan> }) => ({
      title: "Place the order",
      fields: [{ type: "money" as const, label: "Amount", amount_cents: plan.amountCents, currency: "eur" }],
      on_approve: "It is placed once.",
      on_reject: "Nothing happens.",
    });
    return defineAgent("twice-guarded", { version: 1, input: Ticket })
      .model("plan", { prompt: planPrompt, output: Plan })
      .approval("legal", { of: "place", show, validFor: days(1), onReject: "end", onStale: "legal" })
      .approval("finance", {
        of: "place",
        show,
        snapshot: () => budget,
        validFor: days(7),
        onReject: "end",
        onStale: { snapshot_changed: "plan", expired: "finance" },
      })
      .write("place", {
        tool: placeOrder,
        with: ({ input, plan }) => ({ order: input.order, amountCents: plan.amountCents }),
        businessKey: ({ input }) => input.order,
      })
      .end();
  };

describe("two approvals of one write", () => {
  const tables = localTables();

  async function bothApproved() {
    const budget = { leftCents: 10_000 };
    const world = await runWorld(tables, { amountCents: 9_900, agent: twiceGuarded(budget) });
    expect(await world.drive()).toBe("waits");
    await world.answer("approved", { by: "lea" });
    expect(await world.drive()).toBe("waits");
    await world.answer("approved", { by: "finn" });
    return { world, budget };
  }
  const supersededBy = async (world: Awaited<ReturnType<typeof runWorld>>) =>
    (await world.history()).waiters.map(({ node, superseded }) => [node, superseded?.reason]);

  it("let it go once both hold", async () => {
    const { world } = await bothApproved();
    expect(await world.drive()).toBe("done");
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("lead back each by itself: what the first said is asked again, what the second said still stands in the record", async () => {
    const { world } = await bothApproved();
    world.clock.advance(dayMs + 1);
    expect(await faultOf(world.step("place", "0002.finance"))).toMatchObject({ name: "surefoot.sent_back.place" });
    expect((await world.history()).steps.at(-1)).toMatchObject({ outcome: "sent_back", next: "legal" });
    expect(await supersededBy(world)).toEqual([
      ["legal", "expired"],
      ["finance", undefined],
    ]);
    expect(world.downstream.requests).toEqual([]);
  });

  it("lead back each by itself: the second's own reason goes to its own place, by an error of its own", async () => {
    const { world, budget } = await bothApproved();
    budget.leftCents = 0;
    expect(await faultOf(world.step("place", "0002.finance"))).toMatchObject({ name: "surefoot.sent_back.place.plan" });
    expect((await world.history()).steps.at(-1)).toMatchObject({
      outcome: "sent_back",
      next: "plan",
      output: { json: '{"comment":"changed: leftCents","node":"place","reason":"snapshot_changed"}' },
    });
    expect(await supersededBy(world)).toEqual([
      ["legal", undefined],
      ["finance", "snapshot_changed"],
    ]);
    expect(await world.drive()).toBe("waits");
    expect(world.downstream.requests).toEqual([]);
  });

  it("are both needed: one that was turned down ends it, though the other was given", async () => {
    const world = await runWorld(tables, { amountCents: 9_900, agent: twiceGuarded({ leftCents: 1 }) });
    await world.drive();
    await world.answer("approved");
    await world.drive();
    await world.answer("rejected");
    expect(await world.drive()).toBe("done");
    expect((await world.history()).run).toMatchObject({ outcome: "rejected" });
    expect(world.downstream.requests).toEqual([]);
  });
});

describe("two pending approvals", () => {
  const tables = localTables();

  it("answered in the reverse order of asking land each at its own operation", async () => {
    const worlds = [
      await runWorld(tables, { amountCents: 6_100 }),
      await runWorld(tables, { amountCents: 7_200 }),
    ] as const;
    for (const world of worlds) expect(await world.drive()).toBe("waits");
    const waiters = await Promise.all(worlds.map((world) => world.waiter()));
    for (const at of [1, 0] as const) {
      const [world, waiter] = [worlds[at], waiters[at]!];
      await answerApproval(waiter, decision(waiter, world.clock.nowMs(), "approved"), world.ports);
      expect(await world.drive()).toBe("done");
    }
    expect(worlds.map(({ downstream }) => downstream.effects)).toMatchObject([
      [{ key: waiters[0]?.operation_id, receipt: { amountCents: 6_100 } }],
      [{ key: waiters[1]?.operation_id, receipt: { amountCents: 7_200 } }],
    ]);
  });
});

describe("a question that was withdrawn", () => {
  const tables = localTables();
  const kim = { by: "kim", known_by: "iam" };

  it("ends its run where nobody's answer does, and nothing is sent", async () => {
    const world = await runWorld(tables, { amountCents: 9_900 });
    await world.drive();
    const cancelled = await cancelApproval(await world.waiter(), kim, "asked by mistake", world.ports);
    expect(cancelled).toMatchObject({
      changed: true,
      wake: "woken",
      outcome: { outcome: "cancelled", by: "kim", known_by: "iam", comment: "asked by mistake" },
    });
    expect([...world.tokens.values()]).toEqual(["surefoot.expired"]);

    expect(await world.step("plan+stock+review", "0002.review")).toMatchObject({ next: "end" });
    expect((await world.history()).run).toMatchObject({ status: "SUCCEEDED", outcome: "cancelled" });
    expect(world.downstream.requests).toEqual([]);
    expect(await cancelApproval(await world.waiter(), kim, undefined, world.ports)).toMatchObject({ changed: false });
  });

  it("takes the words of whoever withdrew it to the plan, where it leads there", async () => {
    const budget = { leftCents: 1 };
    const world = await runWorld(tables, {
      amountCents: 9_900,
      agent: ({ placeOrder }) => replanning(placeOrder, budget),
    });
    await world.drive();
    await cancelApproval(await world.waiter(), kim, "wait for the new prices", world.ports);
    expect(await world.drive()).toBe("waits");
    expect(JSON.parse(world.modelRequests[1]?.data ?? "")).toEqual({
      amountCents: 9_900,
      rejection: { node: "review", reason: "cancelled", comment: "wait for the new prices", by: "kim" },
    });
  });

  it("that was answered before is not withdrawn, and the answer is named", async () => {
    const world = await runWorld(tables, { amountCents: 9_900 });
    await world.drive();
    await world.answer("approved");
    expect(await faultOf(cancelApproval(await world.waiter(), kim, undefined, world.ports))).toMatchObject({
      code: "already_decided",
      message: expect.stringMatching(/was approved by kim at 2026-.*that counts, and nothing was changed/) as string,
    });
    expect(await world.drive()).toBe("done");
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("is withdrawn or answered, never both, when both come at once", async () => {
    for (let n = 0; n < 5; n++) {
      const world = await runWorld(tables, { amountCents: 9_900 });
      await world.drive();
      const waiter = await world.waiter();
      const [withdrawn, answered] = await Promise.allSettled([
        cancelApproval(waiter, kim, undefined, world.ports),
        world.answer("approved"),
      ]);
      const mine = answered.status === "fulfilled" && answered.value.mine;
      expect(withdrawn.status).toBe(mine ? "rejected" : "fulfilled");
      expect(await world.drive()).toBe("done");
      expect(world.downstream.effects).toHaveLength(mine ? 1 : 0);
    }
  });

  const replanning = (placeOrder: AgentParts["placeOrder"], budget: { leftCents: number }): Agent =>
    defineAgent("replanning", { version: 1, input: Ticket })
      .model("plan", { prompt: planPrompt, output: Plan })
      .approval("review", {
        of: "place",
        show: ({ plan }) => ({
          title: "Place the order",
          fields: [{ type: "money", label: "Amount", amount_cents: plan.amountCents, currency: "eur" }],
          on_approve: "It is placed once.",
          on_reject: "The agent plans again.",
        }),
        snapshot: () => budget,
        validFor: days(1),
        onReject: "plan",
      })
      .write("place", {
        tool: placeOrder,
        with: ({ input, plan }) => ({ order: input.order, amountCents: plan.amountCents }),
        businessKey: ({ input }) => input.order,
      })
      .end();
});
