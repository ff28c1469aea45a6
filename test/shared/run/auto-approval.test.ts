import { describe, expect, it } from "vitest";
import { ApprovalOutcome } from "../../../shared/approval/approval.ts";
import { guardedAgent, type GuardedOptions, openShop } from "../../builders/guarded-agent.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf } from "../../builders/operation-world.ts";
import { runWorld } from "../../builders/run-world.ts";

describe("a policy that approves in a person's place", () => {
  const tables = localTables();

  async function started(amountCents: number, options: Partial<GuardedOptions> = {}) {
    const shop = openShop();
    const agent = guardedAgent({ shop, risk: "low", autoUpToCents: 5_000, ...options });
    return { shop, world: await runWorld(tables, { amountCents, agent }) };
  }

  it("is recorded by its name, bound like any decision, and nobody is asked", async () => {
    const { world } = await started(4_200);
    expect(await world.drive()).toBe("done");
    const { steps, waiters } = await world.history();
    expect(waiters).toEqual([]);
    const output = steps.find(({ node }) => node === "review")?.output;
    expect(ApprovalOutcome.parse(JSON.parse(output && "json" in output ? output.json : ""))).toEqual({
      outcome: "approved",
      by: "small-orders",
      known_by: "policy",
      policy: "small-orders",
      payload_digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      tool_version: 1,
      workflow_version: 1,
      prompt_versions: { plan: "plan@1" },
      snapshot_digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      valid_until: "2026-09-09T12:00:00.000Z",
      at: "2026-09-02T12:00:00.000Z",
    });
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("leaves what lies above its limit to a person", async () => {
    const { world } = await started(5_001);
    expect(await world.drive()).toBe("waits");
    expect(await world.waiter()).toMatchObject({ risk: "low", status: "OPEN" });
  });

  it("is not asked where the view says that this one's risk is high", async () => {
    const { world } = await started(4_200, { viewRisk: "high" });
    expect(await world.drive()).toBe("waits");
    const { subject, risk } = await world.waiter();
    expect(risk).toBe("high");
    expect(JSON.parse("json" in subject ? subject.json : "")).toMatchObject({ view: { risk: "high" } });
  });

  it("is refused in the definition of an agent whose tool has a high risk", async () => {
    await expect(() => started(4_200, { risk: "high" })).rejects.toThrow(
      /node "review": autoApprove: tool "place_order" has a high risk, which a person decides/,
    );
  });

  it("no longer holds when what it relied on has changed, like any decision", async () => {
    const { world, shop } = await started(4_200);
    expect(await world.step("plan+review", "0000.plan")).toMatchObject({ next: "place" });
    shop.status = "shipped";
    await faultOf(world.step("place", "0001.review"));
    const { steps } = await world.history();
    expect(steps.map(({ node, outcome, next }) => [node, outcome, next])).toContainEqual([
      "place",
      "sent_back",
      "review",
    ]);
    expect(world.downstream.requests).toEqual([]);
    // Asked again on what is so now, the policy says yes again.
    expect(await world.drive()).toBe("done");
    expect(world.downstream.effects).toHaveLength(1);
  });
});
