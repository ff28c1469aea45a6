import { describe, expect, it } from "vitest";
import { decideApproval } from "../../../shared/run/decide-approval.ts";
import { type CrashPoint, Life, ProcessDied } from "../../builders/life.ts";
import { localTables } from "../../builders/local-tables.ts";
import { sweepWorld, type SweepWorld } from "../../builders/sweep-world.ts";

describe("a vote whose voter died", () => {
  const tables = localTables();

  async function asked(): Promise<SweepWorld> {
    const world = await sweepWorld(tables, { approval: true, quorum: 2 });
    expect(await world.go()).toEqual({ [`${world.runId}-1`]: "waits" });
    return world;
  }
  async function vote(world: SweepWorld, by: string, crash?: CrashPoint) {
    const waiter = (await world.history()).waiters.at(-1);
    if (!waiter) throw new Error("nobody waits");
    return decideApproval(
      waiter,
      { decision: "approve", approver: { by, known_by: "iam", roles: [] }, comment: undefined },
      world.portsOf(new Life(crash)),
    );
  }

  it.each<CrashPoint>([
    { when: "after", call: "log.addVote" },
    { when: "before", call: "log.append" },
    { when: "after", call: "log.append" },
    { when: "before", call: "waker.succeed" },
  ])("$when $call is the decision all the same, by the next sweep", async (crash) => {
    const world = await asked();
    expect(await vote(world, "ann")).toMatchObject({ kind: "counted", quorum: 2 });
    await expect(vote(world, "bo", crash)).rejects.toThrow(ProcessDied);

    expect(await world.sweep()).toMatchObject({ deeds: { woken: 1 }, errors: 0 });
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
    // The voter, who heard nothing, says it again.
    expect(await vote(world, "bo")).toMatchObject({ kind: "decided", counts: true, outcome: { outcome: "approved" } });
  });

  it("is no decision while more are needed, however often it is swept", async () => {
    const world = await asked();
    await vote(world, "ann");
    for (let n = 0; n < 2; n++) expect((await world.sweep()).deeds).not.toHaveProperty("woken");
    expect((await world.history()).run.status).toBe("WAITING");

    world.clock.advance(86_400_001);
    expect(await world.sweep()).toMatchObject({ deeds: { expired: 1 } });
    await world.go();
    expect((await world.history()).run).toMatchObject({ status: "SUCCEEDED", outcome: "expired" });
    expect(world.downstream.effects).toEqual([]);
  });
});
