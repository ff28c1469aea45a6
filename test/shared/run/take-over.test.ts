import { describe, expect, it } from "vitest";
import { settleRun } from "../../../shared/run/settle-run.ts";
import { resumeRun } from "../../../shared/run/resume-run.ts";
import type { State } from "../../../shared/agent/node.ts";
import { Adoption } from "../../../shared/runlog/adoption.ts";
import { openRunStatuses } from "../../../shared/runlog/run-record.ts";
import { waiterId } from "../../../shared/waiter/waiter.ts";
import { diedOf, type CrashPoint } from "../../builders/life.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf } from "../../builders/operation-world.ts";
import { partsOf } from "../../builders/order-agent.ts";
import { releasedAgent, type ReleaseOptions } from "../../builders/released-agent.ts";
import { type RunWorld, runWorld } from "../../builders/run-world.ts";

const arnOf = (version: number) => `arn:aws:states:us-east-1:000000000000:stateMachine:released-agent:${version}`;
const moveTo = (version: number) => ({ state_machine_arn: arnOf(version), workflow_version: version });

/** Version 8 looks at the risk before it asks. */
const toEight = {
  from: 7,
  to: 8,
  migrate: (state: State) => ({ ...state, stock: { pieces: 1 } }),
  resumeAt: { review: "risk_check" },
};

describe("a run of version 7 that waits for its approval", () => {
  const tables = localTables();
  const waiting = async () => {
    const world = await runWorld(tables, { agent: releasedAgent({ version: 7 }) });
    expect(await world.drive()).toBe("waits");
    return { world, ...releases(world) };
  };
  /** The same workflow as a later release has it, with the same way to the outside. */
  const releases = (world: RunWorld) => ({
    release: (options: ReleaseOptions) =>
      releasedAgent(options)(partsOf(() => world.life(), world.downstream, world.reads)),
  });
  const attemptOf = async (world: RunWorld) => (await world.history()).run.execution_attempt;
  const adoptions = async (world: RunWorld) =>
    (await world.history()).steps
      .filter(({ kind }) => kind === "adoption")
      .map(({ output }) => Adoption.parse(JSON.parse("json" in output ? output.json : "{}")));

  it("goes on under a version 8 that only differs ahead: the question stands, and its answer counts there", async () => {
    const { world, release } = await waiting();
    const asked = await world.waiter();
    const eight = release({ version: 8, note: "archive" });
    expect(await resumeRun(world.runId, world.ports, moveTo(8))).toMatchObject({ resumed: true });
    expect(world.executions.at(-1)?.input).toMatchObject({ next: "take_over!" });
    expect(await world.drive({ execution: 2, agent: eight })).toBe("waits");
    expect((await world.history()).run).toMatchObject({
      workflow_version: 8,
      state_machine_arn: arnOf(8),
      compatible_with: [7],
    });
    expect(await world.waiter()).toMatchObject({ position: asked.position, write_id: asked.write_id });
    await world.answer("approved");
    expect(await world.drive({ execution: 2, agent: eight })).toBe("done");
    expect(world.downstream.effects).toHaveLength(1);
    expect(await adoptions(world)).toEqual([]);
    expect(Object.keys(await world.state())).toContain("archive");
  });

  it("is asked again under a version 8 that other people decide; who saw the old question decides nothing", async () => {
    const { world, release } = await waiting();
    const first = await world.waiter();
    const eight = release({ version: 8, roles: ["finance"] });
    await resumeRun(world.runId, world.ports, moveTo(8));
    expect(await world.drive({ execution: 2, agent: eight })).toBe("waits");
    const { waiters, run } = await world.history();
    expect(waiters.map(({ position, superseded }) => [position, superseded?.reason])).toEqual([
      [first.position, "version_changed"],
      ["0004.review", undefined],
    ]);
    expect(run).toMatchObject({ workflow_version: 8, compatible_with: [] });
    expect(await adoptions(world)).toMatchObject([
      { verdict: "reapprove", from: { workflow_version: 7 }, to: { workflow_version: 8 }, decisions_hold: false },
    ]);
    await world.answer("approved");
    expect(await world.drive({ execution: 2, agent: eight })).toBe("done");
    expect(world.downstream.effects).toHaveLength(1);
    expect(world.modelRequests).toHaveLength(1);
  });

  it("makes again what a person was shown where the model is asked in other words, and asks again", async () => {
    const { world, release } = await waiting();
    const eight = release({ version: 8, prompt: "Plan it well." });
    await resumeRun(world.runId, world.ports, moveTo(8));
    world.modelSays({ amountCents: 700 });
    expect(await world.drive({ execution: 2, agent: eight })).toBe("waits");
    await world.answer("approved");
    expect(await world.drive({ execution: 2, agent: eight })).toBe("done");
    expect(world.downstream.effects).toMatchObject([{ receipt: { amountCents: 700 } }]);
    expect(world.modelRequests).toHaveLength(2);
  });

  describe("when version 8 inserts risk_check", () => {
    it("stays on 7 where no migration is registered, never runs 8's code on 7's state, and ends on 7", async () => {
      const { world, release } = await waiting();
      const eight = release({ version: 8, riskCheck: true });
      await resumeRun(world.runId, world.ports, moveTo(8));
      expect(await world.drive({ execution: 2, agent: eight })).toBe("PARKED");
      const { run, waiters, steps } = await world.history();
      expect(run).toMatchObject({
        workflow_version: 7,
        failure: {
          error: {
            code: "version_incompatible",
            message: expect.stringMatching(/they have skipped risk_check/) as string,
          },
          next_move: expect.stringMatching(
            /^choose: surefoot resume .*--version.*surefoot fork.*surefoot cancel/,
          ) as string,
        },
      });
      expect(run.moving_to).toBeUndefined();
      expect([steps.length, waiters[0]?.superseded]).toEqual([2, undefined]);
      expect(world.metrics.total("workflow_version_mismatch_total")).toBe(1);

      await resumeRun(world.runId, world.ports);
      expect(world.executions.at(-1)?.input).toMatchObject({ next: "review" });
      expect(await world.drive({ execution: 3 })).toBe("waits");
      await world.answer("approved");
      expect(await world.drive({ execution: 3 })).toBe("done");
      expect((await world.history()).run).toMatchObject({ status: "SUCCEEDED", workflow_version: 7 });
      expect(world.downstream.effects).toHaveLength(1);
    });

    it("goes through it with a migration, on the migrated state, and its approval is asked for again", async () => {
      const { world, release } = await waiting();
      const first = await world.waiter();
      const eight = release({ version: 8, riskCheck: true, migrations: [toEight] });
      await resumeRun(world.runId, world.ports, moveTo(8));
      expect(await world.drive({ execution: 2, agent: eight })).toBe("waits");
      expect(await world.steps()).toEqual([
        "0000.plan → stock",
        "0001.stock → review",
        "0002.review → review",
        "0003.review → risk_check",
        "0004.risk_check → review",
      ]);
      expect(await adoptions(world)).toMatchObject([
        {
          verdict: "migrate",
          migrations: [{ from: 7, to: 8 }],
          state: { input: world.input, stock: { pieces: 1 }, plan: { amountCents: world.input.amountCents } },
        },
      ]);
      const late = await world.log.readWaiter(world.runId, first.position);
      expect(late).toMatchObject({ status: "ANSWERED", superseded: { reason: "version_changed" } });
      await world.answer("approved");
      expect(await world.drive({ execution: 2, agent: eight })).toBe("done");
      expect((await world.history()).run).toMatchObject({ status: "SUCCEEDED", workflow_version: 8 });
      expect(world.downstream.effects).toHaveLength(1);
      expect(world.reads).toHaveLength(1);
    });

    it("is not continued by version 7 any more once 8 has taken it over", async () => {
      const { world, release } = await waiting();
      const eight = release({ version: 8, riskCheck: true, migrations: [toEight] });
      await resumeRun(world.runId, world.ports, moveTo(8));
      await world.drive({ execution: 2, agent: eight });
      const fault = await faultOf(
        world.step("plan+stock+review", "0004.risk_check", { execution: `${world.runId}-2` }),
      );
      expect(fault).toMatchObject({ cause: { name: "ReplayContractError" } });
      expect(world.downstream.requests).toEqual([]);
    });

    const calls = [
      "log.append",
      "log.supersede",
      "log.closeWaiter",
      "log.change",
      "ledger.listByRun",
      "log.readContract",
    ].flatMap((call) => (["before", "after"] as const).flatMap((when) => [1, 2].map((nth) => ({ when, call, nth }))));

    it.each(calls)(
      "and whoever takes it over dies $when $call ($nth), it is taken over once",
      async (crash: CrashPoint) => {
        const { world, release } = await waiting();
        const eight = release({ version: 8, riskCheck: true, migrations: [toEight] });
        await resumeRun(world.runId, world.ports, moveTo(8));
        await world.takeOver(eight, { crash }).catch((error: unknown) => {
          if (!diedOf(error)) throw error;
        });
        expect(await world.drive({ execution: 2, agent: eight })).toBe("waits");
        expect(await adoptions(world)).toHaveLength(1);
        expect((await world.history()).run).toMatchObject({ workflow_version: 8, state_machine_arn: arnOf(8) });
        await world.answer("approved");
        expect(await world.drive({ execution: 2, agent: eight })).toBe("done");
        expect(world.downstream.effects).toHaveLength(1);
        expect(world.modelRequests).toHaveLength(1);
      },
    );

    it("and its migration throws, it stays as it was, its question open", async () => {
      const { world, release } = await waiting();
      const eight = release({
        version: 8,
        riskCheck: true,
        migrations: [
          {
            ...toEight,
            migrate: () => {
              throw new Error("no such field");
            },
          },
        ],
      });
      await resumeRun(world.runId, world.ports, moveTo(8));
      expect(await world.drive({ execution: 2, agent: eight })).toBe("PARKED");
      const { run, waiters, steps } = await world.history();
      expect(run).toMatchObject({ workflow_version: 7, failure: { error: { code: "migration_failed" } } });
      expect([waiters.length, waiters[0]?.status, steps.length]).toEqual([1, "OPEN", 2]);
    });
  });

  describe("that somebody has approved", () => {
    const approved = async () => {
      const made = await waiting();
      await made.world.answer("approved");
      return made;
    };
    const plain = { from: 7, to: 8, migrate: (state: State) => state };

    it("takes the yes along where the migration leaves what it authorises alone", async () => {
      const { world, release } = await approved();
      const eight = release({ version: 8, migrations: [plain] });
      await resumeRun(world.runId, world.ports, moveTo(8));
      expect(await world.drive({ execution: 2, agent: eight })).toBe("done");
      expect(world.downstream.effects).toHaveLength(1);
      expect((await world.history()).waiters).toHaveLength(1);
    });

    it("is asked again where the migration says so, and the yes shows that it counts no more", async () => {
      const { world, release } = await approved();
      const eight = release({ version: 8, migrations: [{ ...plain, reapprove: true }] });
      await resumeRun(world.runId, world.ports, moveTo(8));
      expect(await world.drive({ execution: 2, agent: eight })).toBe("waits");
      expect(world.downstream.requests).toEqual([]);
      expect((await world.history()).waiters.map(({ superseded }) => superseded?.reason)).toEqual([
        "version_changed",
        undefined,
      ]);
      await world.answer("approved");
      expect(await world.drive({ execution: 2, agent: eight })).toBe("done");
      expect(world.downstream.effects).toHaveLength(1);
    });

    it("whose write has begun belongs to version 7 alone, whatever migrations there are", async () => {
      const { world, release } = await approved();
      await faultOf(world.step("place+note", "0002.review", { crash: { when: "after", call: "ledger.claim" } }));
      const eight = release({ version: 8, migrations: [plain] });
      await resumeRun(world.runId, world.ports, moveTo(8));
      expect(await world.drive({ execution: 2, agent: eight })).toBe("PARKED");
      expect((await world.history()).run).toMatchObject({
        workflow_version: 7,
        failure: { error: { message: expect.stringMatching(/place may have reached the outside/) as string } },
      });
    });
  });

  describe("when version 7 is retired", () => {
    const retired = async () => {
      const made = await waiting();
      const { run } = await made.world.history();
      const why = { at: "2026-09-02T12:00:00.000Z", by: "sec", reason: "leaks card numbers", workflow_version: 7 };
      await made.world.log.change(run, openRunStatuses, { retired: why, waiting_for: "review" });
      return made;
    };

    it("does nothing more there: approved, it is parked with who retired it and the choices", async () => {
      const { world } = await retired();
      await world.answer("approved");
      expect(await world.drive()).toBe("PARKED");
      expect((await world.history()).run.failure).toMatchObject({
        error: {
          code: "version_retired",
          message: expect.stringMatching(/retired by sec: leaks card numbers/) as string,
        },
        next_move: expect.stringMatching(/^choose: .*--version.*surefoot fork.*surefoot cancel/) as string,
      });
      expect(world.downstream.requests).toEqual([]);
      await resumeRun(world.runId, world.ports);
      expect(await world.drive({ execution: 2 })).toBe("PARKED");
    });

    it("goes on under another version that may take it over", async () => {
      const { world, release } = await retired();
      const eight = release({ version: 8, note: "archive" });
      await resumeRun(world.runId, world.ports, moveTo(8));
      expect(await world.drive({ execution: 2, agent: eight })).toBe("waits");
      await world.answer("approved");
      expect(await world.drive({ execution: 2, agent: eight })).toBe("done");
      expect(world.downstream.effects).toHaveLength(1);
    });
  });

  it("that is on its way to version 8 when its execution is lost still is, and one that was parked there is not", async () => {
    const { world } = await waiting();
    await resumeRun(world.runId, world.ports, moveTo(8));
    await resumeRun(world.runId, world.ports);
    expect(world.executions.at(-1)?.input).toMatchObject({ next: "take_over!" });
    expect((await world.history()).run).toMatchObject({ moving_to: moveTo(8) });
    await settleRun(world.runId, `${world.runId}-${await attemptOf(world)}`, "States.Timeout", world.ports);
    await resumeRun(world.runId, world.ports);
    expect(world.executions.at(-1)?.input).toMatchObject({ next: "review" });
  });

  it("is known by its question also after two moves", async () => {
    const { world, release } = await waiting();
    const eight = release({ version: 8, riskCheck: true, migrations: [toEight] });
    await resumeRun(world.runId, world.ports, moveTo(8));
    await world.drive({ execution: 2, agent: eight });
    const nine = release({ version: 9, riskCheck: true, note: "archive", migrations: [toEight] });
    await resumeRun(world.runId, world.ports, moveTo(9));
    expect(await world.drive({ execution: 3, agent: nine })).toBe("waits");
    const newest = await world.waiter();
    expect(waiterId(newest.run_id, newest.position)).toBe(`${world.runId}:0005.review`);
    await world.answer("approved");
    expect(await world.drive({ execution: 3, agent: nine })).toBe("done");
    expect((await world.history()).run).toMatchObject({ workflow_version: 9, compatible_with: [8] });
    expect(world.downstream.effects).toHaveLength(1);
  });
});
