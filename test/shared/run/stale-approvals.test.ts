import { describe, expect, it } from "vitest";
import { Rejection } from "../../../shared/approval/approval.ts";
import { resumeRun } from "../../../shared/run/resume-run.ts";
import type { Waiter } from "../../../shared/waiter/waiter.ts";
import { guardedAgent, type GuardedOptions, openShop, type Shop } from "../../builders/guarded-agent.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf } from "../../builders/operation-world.ts";
import { runWorld, type RunWorld } from "../../builders/run-world.ts";

const asking = "plan+review";
const sending = "place";
const dayMs = 24 * 3_600_000;

describe("a decision that no longer holds when the write is dispatched", () => {
  const tables = localTables();

  /** A run whose request was shown to a person. */
  async function asked(options: Partial<GuardedOptions> = {}) {
    const shop = openShop();
    const world = await runWorld(tables, { amountCents: 9_900, agent: guardedAgent({ shop, ...options }) });
    expect(await world.drive()).toBe("waits");
    return { world, shop };
  }

  const subjectOf = (waiter: Waiter | undefined) =>
    JSON.parse(waiter && "json" in waiter.subject ? waiter.subject.json : "{}") as Record<string, unknown>;
  const sentBackFor = async (world: RunWorld) => {
    const { steps } = await world.history();
    return steps
      .filter(({ outcome }) => outcome === "sent_back")
      .map(({ output }) => Rejection.parse(JSON.parse("json" in output ? output.json : "{}")));
  };

  const refusals: readonly {
    readonly reason: string;
    readonly what: string;
    readonly change: (shop: Shop, world: RunWorld) => void;
    readonly options?: Partial<GuardedOptions>;
    readonly comment?: string;
  }[] = [
    { reason: "digest_changed", what: "one argument is another", change: (shop) => (shop.driftCents = 1) },
    { reason: "expired", what: "its time has passed", change: (_shop, world) => world.clock.advance(7 * dayMs + 1) },
    {
      reason: "snapshot_changed",
      what: "the order's status is another",
      change: (shop) => (shop.status = "shipped"),
      comment: "changed: status",
    },
    {
      reason: "snapshot_changed",
      what: "a policy has another limit, which the amount still meets",
      change: (shop) => (shop.limitCents = 40_000),
      comment: "changed: limitCents",
    },
    {
      reason: "precondition_failed",
      what: "a policy has another limit, which the amount no longer meets",
      change: (shop) => (shop.limitCents = 400),
      comment: "the limit is 400",
      options: { onStale: { precondition_failed: "plan", snapshot_changed: "review" } },
    },
  ];

  it.each(refusals)(
    "$reason: $what; nothing is sent, it is void, and a new approval is pending",
    async ({ reason, change, options, comment }) => {
      const { world, shop } = await asked(options);
      const first = await world.waiter();
      await world.answer("approved");
      change(shop, world);
      world.modelSays({ amountCents: 300 });

      expect(await world.drive()).toBe("waits");
      expect(world.downstream.requests).toEqual([]);
      expect(await sentBackFor(world)).toEqual([{ node: "place", reason, ...(comment && { comment }) }]);
      const { waiters } = await world.history();
      expect(waiters[0]).toMatchObject({
        position: first.position,
        superseded: { reason, ...(comment && { comment }) },
      });
      const second = await world.waiter();
      expect(second).toMatchObject({ node: "review", status: "OPEN" });
      expect(second.position > first.position).toBe(true);
      expect(second.superseded).toBeUndefined();
      expect(second.operation_id).toBe(first.operation_id);

      await world.answer("approved");
      expect(await world.drive()).toBe("done");
      expect(world.downstream.effects).toHaveLength(1);
    },
  );

  it.each([
    ["the workflow, which asks other people,", { version: 2, approvers: { roles: ["finance"] } }],
    ["its tool", { toolVersion: 2 }],
    ["a prompt behind it", { release: 2 }],
  ] as const)("version_changed: another version of %s dispatches; nothing is sent", async (_what, later) => {
    const { world, shop } = await asked();
    await world.answer("approved");
    const { agent: next, downstream } = await deployed(shop, later);
    expect(await faultOf(world.step(sending, "0001.review", { agent: next }))).toMatchObject({
      name: "surefoot.sent_back.place",
    });
    expect(await sentBackFor(world)).toEqual([{ node: "place", reason: "version_changed" }]);
    expect((await world.history()).waiters[0]).toMatchObject({ superseded: { reason: "version_changed" } });
    expect(world.downstream.requests).toEqual([]);

    // The later version asks anew, and its question is answered and acted on by itself.
    await world.step(asking, "0002.place", { agent: next });
    expect(subjectOf(await world.waiter())).toMatchObject({
      workflow_version: (later as { version?: number }).version ?? 1,
      tool_version: (later as { toolVersion?: number }).toolVersion ?? 1,
      prompt_versions: { plan: `plan@${(later as { release?: number }).release ?? 1}` },
    });
    await world.answer("approved");
    expect(await world.step(sending, "0003.review", { agent: next })).toMatchObject({ next: "end" });
    expect(downstream.effects).toHaveLength(1);
  });

  it("is not void by a version that differs in nothing which a decision relies on", async () => {
    const { world, shop } = await asked();
    await world.answer("approved");
    const { agent: next, downstream } = await deployed(shop, { version: 2 });
    expect(await world.step(sending, "0001.review", { agent: next })).toMatchObject({ next: "end" });
    expect(downstream.effects).toHaveLength(1);
    expect((await world.history()).run).toMatchObject({ workflow_version: 2, compatible_with: [1] });
  });

  /** The same agent as another deployment has it, with its own way to the outside. */
  const deployed = (shop: Shop, later: Partial<GuardedOptions>) =>
    runWorld(tables, { agent: guardedAgent({ shop, ...later }) });

  it.each(refusals)("$reason: $what; so it is after a restart in between", async ({ reason, change, options }) => {
    const { world, shop } = await asked(options);
    await world.answer("approved");
    change(shop, world);
    world.modelSays({ amountCents: 300 });
    expect(await resumeRun(world.runId, world.ports)).toMatchObject({ resumed: true });

    expect(await world.drive({ execution: 2 })).toBe("waits");
    expect(await sentBackFor(world)).toMatchObject([{ reason }]);
    expect(world.downstream.requests).toEqual([]);
    expect(await world.waiter()).toMatchObject({ node: "review", status: "OPEN" });
  });

  it("version_changed: its tool is another version after a restart in between; nothing is sent, and it is asked anew", async () => {
    const { world, shop } = await asked();
    await world.answer("approved");
    const { agent: next, downstream } = await deployed(shop, { toolVersion: 2 });
    expect(await resumeRun(world.runId, world.ports)).toMatchObject({ resumed: true });

    expect(await world.drive({ execution: 2, agent: next })).toBe("waits");
    expect(await sentBackFor(world)).toEqual([{ node: "place", reason: "version_changed" }]);
    expect([...world.downstream.requests, ...downstream.requests]).toEqual([]);
    expect(await world.waiter()).toMatchObject({ node: "review", status: "OPEN" });
  });

  it("is void for good: it does not go forward when the process dies and the world is back as it was", async () => {
    const { world, shop } = await asked();
    await world.answer("approved");
    shop.status = "shipped";
    // Dies with the decision void and the way back not yet recorded.
    await faultOf(world.step(sending, "0001.review", { crash: { when: "after", call: "log.supersede" } }));
    expect((await world.history()).steps).toHaveLength(2);
    shop.status = "open";

    expect(await world.drive()).toBe("waits");
    expect(await sentBackFor(world)).toEqual([
      { node: "place", reason: "snapshot_changed", comment: "changed: status" },
    ]);
    expect(world.downstream.requests).toEqual([]);
  });

  it("is not checked against a change that the effect itself may have made", async () => {
    const { world, shop } = await asked();
    await world.answer("approved");
    // It happened, its answer was lost, and the order is shipped because of it.
    world.downstream.next({ kind: "drop_response" });
    await faultOf(world.step(sending, "0001.review"));
    shop.status = "shipped";
    world.clock.advance(121_001);

    expect(await world.step(sending, "0001.review")).toMatchObject({ next: "end" });
    expect(await sentBackFor(world)).toEqual([]);
    expect(world.downstream.effects).toHaveLength(1);
  });

  it("waits for business data that cannot be read, and sends nothing meanwhile", async () => {
    const shop = openShop();
    const world = await runWorld(tables, { amountCents: 9_900, agent: guardedAgent({ shop }) });
    await world.drive();
    await world.answer("approved");
    const readable = Object.getOwnPropertyDescriptor(shop, "status") ?? {};
    Object.defineProperty(shop, "status", {
      configurable: true,
      get: () => {
        throw new Error("the shop is down");
      },
    });
    expect(await faultOf(world.step(sending, "0001.review"))).toMatchObject({ name: "surefoot.retryable.place" });
    expect(world.downstream.requests).toEqual([]);
    expect((await world.history()).failures).toMatchObject([{ error: { code: "snapshot_unreadable" } }]);

    Object.defineProperty(shop, "status", readable);
    expect(await world.step(sending, "0001.review")).toMatchObject({ next: "end" });
  });
});

describe("a decision is not invalidated by what means nothing", () => {
  const tables = localTables();

  it("another description: what was shown is sent, decoration included", async () => {
    const shop = openShop();
    const world = await runWorld(tables, { amountCents: 9_900, agent: guardedAgent({ shop }) });
    await world.drive();
    await world.answer("approved");
    shop.note = "other words";

    expect(await world.drive()).toBe("done");
    expect(world.downstream.effects).toMatchObject([{ receipt: { amountCents: 9_900 } }]);
    const entry = await world.store.read((await world.waiter()).operation_id ?? "");
    expect(entry?.request).toEqual({
      json: `{"amountCents":9900,"note":"first words","order":"${world.input.order}"}`,
    });
  });
});
