import { describe, expect, it } from "vitest";
import { answerApproval } from "../../../shared/run/answer-waiter.ts";
import { cancelRun } from "../../../shared/run/cancel-run.ts";
import { resolveOperation } from "../../../shared/run/resolve-operation.ts";
import { registerWait } from "../../../shared/run/wait-run.ts";
import { type CrashPoint, Life, ProcessDied } from "../../builders/life.ts";
import { localTables } from "../../builders/local-tables.ts";
import { decision } from "../../builders/run-world.ts";
import { sweepWorld, type SweepWorld } from "../../builders/sweep-world.ts";

const dayMs = 86_400_000;
/** On either side of everything that an answer does. */
const cuts: readonly CrashPoint[] = [
  { when: "before", call: "waker.succeed" },
  { when: "after", call: "waker.succeed" },
  { when: "before", call: "log.closeWaiter" },
  { when: "after", call: "log.closeWaiter" },
];

async function waiterOf(world: SweepWorld) {
  const waiter = (await world.history()).waiters.at(-1);
  if (!waiter) throw new Error("nobody waits");
  return waiter;
}

const resolve = (world: SweepWorld, outcome: "succeeded" | "retry", crash?: CrashPoint, by = "kim") =>
  resolveOperation(
    {
      ...{ outcome, by, evidence: "seen in the shop", operationId: world.operationId, expectedVersion: undefined },
      ...{ externalRef: outcome === "succeeded" ? "ref_1" : undefined, result: undefined },
    },
    world.portsOf(new Life(crash)),
  );

describe("a wake-up that was lost", () => {
  const tables = localTables();

  async function parked(): Promise<SweepWorld> {
    const world = await sweepWorld(tables, { side: "none" });
    world.downstream.next({ kind: "drop_response" });
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "waits" });
    return world;
  }

  async function asked(): Promise<SweepWorld> {
    const world = await sweepWorld(tables, { approval: true });
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "waits" });
    return world;
  }

  /** One sweep is enough, and the next finds nothing open. */
  async function finishesAfterASweep(world: SweepWorld) {
    expect(await world.sweep()).toMatchObject({ errors: 0, finished: true });
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
    await world.sweep();
    expect((await world.history()).waiters.map(({ status }) => status)).not.toContain("OPEN");
    expect(await world.sweep()).toMatchObject({ looked: 0 });
  }

  it.each(cuts)("after a decision, cut $when $call", async (cut) => {
    const world = await asked();
    const waiter = await waiterOf(world);
    const said = decision(waiter, world.clock.nowMs(), "approved");
    await expect(answerApproval(waiter, said, world.portsOf(new Life(cut)))).rejects.toThrow(ProcessDied);
    await finishesAfterASweep(world);
  });

  it.each(cuts)("after a resolution, cut $when $call", async (cut) => {
    const world = await parked();
    await expect(resolve(world, "succeeded", cut)).rejects.toThrow(ProcessDied);
    await finishesAfterASweep(world);
  });

  it("after a resolution: the same word again wakes the run as well", async () => {
    const world = await parked();
    await expect(resolve(world, "succeeded", { when: "before", call: "waker.succeed" })).rejects.toThrow(ProcessDied);
    expect(await resolve(world, "succeeded")).toMatchObject({ changed: false, wake: "woken" });
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
  });

  it.each(["ledger.commit", "log.readRun"] as const)(
    "after a queue result, cut after the worker's %s",
    async (call) => {
      const world = await sweepWorld(tables, { side: "queue" });
      await world.go();
      if (call === "ledger.commit") {
        world.dieAt({ when: "after", call });
        // The handler that called the dead worker dies with it.
        await world.ports.functions.deliver("arn", world.operationId).catch(() => undefined);
      } else {
        await world.ports.functions.deliver("arn", world.operationId);
      }
      expect(await world.verdict()).toBe("run WAITING, 1 effects, operation SUCCEEDED");
      await finishesAfterASweep(world);
    },
  );

  it("after the engine gave up on the token is no end: the run goes on in a new execution", async () => {
    const world = await parked();
    world.killExecution();
    expect(await resolve(world, "succeeded")).toMatchObject({ wake: "resumed" });
    expect(await world.go()).toMatchObject({ [`${world.runId}-2`]: "ended" });
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
  });

  it("between closing the waiter and the new execution is made good by the sweep", async () => {
    const world = await parked();
    world.killExecution();
    await expect(resolve(world, "succeeded", { when: "before", call: "executions.start" })).rejects.toThrow(
      ProcessDied,
    );
    world.clock.advance(60_000);
    await finishesAfterASweep(world);
  });

  it("does not follow from a run that is quicker than the one who woke it: a second doubt is answered too", async () => {
    const world = await parked();
    world.downstream.next({ kind: "drop_response" });
    // The run is back at its wait, in doubt again, before the waker's caller has closed the first one.
    const { waker } = world.ports;
    const quick = {
      ...waker,
      succeed: async (token: string) => {
        const told = await waker.succeed(token);
        await world.go();
        return told;
      },
    };
    await resolveOperation(
      {
        ...{ outcome: "retry", by: "kim", evidence: "not in the shop", operationId: world.operationId },
        ...{ expectedVersion: undefined, externalRef: undefined, result: undefined },
      },
      { ...world.ports, waker: quick },
    );
    expect((await world.entry()).status).toBe("UNKNOWN");
    expect(await waiterOf(world)).toMatchObject({ status: "OPEN" });
    expect(await resolve(world, "succeeded")).toMatchObject({ changed: true, wake: "woken" });
    await world.go();
    expect((await world.history()).run.status).toBe("SUCCEEDED");
  });

  it("does not follow from a click between two attempts of the state that waits", async () => {
    const world = await asked();
    const waiter = await waiterOf(world);
    // The first attempt left its token and died; the engine forgot that token, then somebody clicked.
    world.engine.tokens.set(waiter.task_token ?? "", "gone");
    await answerApproval(waiter, decision(waiter, world.clock.nowMs(), "approved"), world.ports);
    world.engine.tokens.set("token-of-the-second-attempt", "open");
    const entry = { runId: world.runId, line: "review", execution: `${world.runId}-1` };
    await registerWait(entry, "token-of-the-second-attempt", world.ports);
    expect(world.engine.tokens.get("token-of-the-second-attempt")).toBe("succeeded");
  });

  it("of a cancelled run sends its waiter home", async () => {
    const world = await asked();
    await expect(
      cancelRun(world.runId, "kim", world.portsOf(new Life({ when: "before", call: "waker.fail" }))),
    ).rejects.toThrow(ProcessDied);
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "waits" });
    await world.sweep();
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "ended" });
    expect(await world.verdict()).toBe("run CANCELLED, 0 effects, operation PENDING");
  });
});

describe("an approval past its end", () => {
  const tables = localTables();

  it("is expired by the sweep, not a moment before", async () => {
    const world = await sweepWorld(tables, { approval: true });
    await world.go();
    world.clock.advance(dayMs);
    expect(await world.sweep()).toMatchObject({ deeds: { nothing: 3 } });
    world.clock.advance(1);
    expect(await world.sweep()).toMatchObject({ deeds: { expired: 1, nothing: 2 }, errors: 0 });
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 0 effects, operation PENDING");
    expect((await world.history()).run.outcome).toBe("expired");
    expect(world.metrics.total("waiter_overdue_total")).toBe(1);
  });

  it("is expired or decided, never both, when sweeps and clicks race", async () => {
    for (let round = 0; round < 5; round++) {
      const world = await sweepWorld(tables, { approval: true });
      await world.go();
      const waiter = await waiterOf(world);
      const clicked = decision(waiter, world.clock.nowMs(), "approved");
      world.clock.advance(dayMs + 1);
      const click = answerApproval(waiter, clicked, world.ports);
      if (round === 0) await click;
      const [answer] = await Promise.all([click, world.sweep(), world.sweep()]);
      if (round === 0) expect(answer.outcome.outcome).toBe("approved");
      await world.go();
      const reviews = (await world.history()).steps.filter(({ node }) => node === "review");
      expect(reviews).toHaveLength(1);
      expect(reviews[0]?.output).toMatchObject({
        json: expect.stringContaining(`"outcome":"${answer.outcome.outcome}"`) as string,
      });
      expect((await world.history()).run.status).toBe("SUCCEEDED");
      // Approved a day ago: too late to send on it.
      expect(world.downstream.effects).toHaveLength(0);
      expect(world.metrics.added.filter(({ name }) => name === "approval_wait_seconds")).toHaveLength(1);
    }
  });
});
