import { describe, expect, it } from "vitest";
import { keepContract } from "../../../shared/contract/kept-contract.ts";
import { contractDigest } from "../../../shared/contract/manifest.ts";
import { dynamoReleases } from "../../../shared/release/dynamo-releases.ts";
import { type ForkRequest, forkRun } from "../../../shared/run/fork-run.ts";
import { cancelRun } from "../../../shared/run/cancel-run.ts";
import { resumeRun } from "../../../shared/run/resume-run.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf } from "../../builders/operation-world.ts";
import { partsOf } from "../../builders/order-agent.ts";
import { releasedAgent, type ReleaseOptions } from "../../builders/released-agent.ts";
import { runWorld } from "../../builders/run-world.ts";

const arnOf = (version: number) => `arn:aws:states:us-east-1:000000000000:stateMachine:released-agent:${version}`;
const by = { by: "kim", known_by: "claimed" };

describe("a fork of a run", () => {
  const tables = localTables();

  /** A run whose order was approved and placed. */
  async function ended() {
    const made = await waiting();
    await made.world.answer("approved");
    expect(await made.world.drive()).toBe("done");
    return made;
  }

  async function waiting() {
    const world = await runWorld(tables, { agent: releasedAgent({ version: 7 }) });
    await world.drive();
    const releases = dynamoReleases(tables.client(), "runs");
    const ports = { ...world.ports, releases };
    return {
      world,
      ports,
      fork: async (request: Partial<ForkRequest> & { readonly at: string }) =>
        forkRun(await world.history(), { live: false, version: undefined, repeat: [], by, ...request }, ports),
      async release(options: ReleaseOptions) {
        const agent = releasedAgent(options)(partsOf(() => world.life(), world.downstream, world.reads));
        await releases.keep({
          agent: agent.name,
          workflow_version: agent.version,
          contract_digest: await keepContract(agent, world),
          state_machine_arn: arnOf(agent.version),
          released_at: "2026-09-02T12:00:00.000Z",
        });
        expect(contractDigest(agent)).toHaveLength(64);
        return agent;
      },
    };
  }
  const placedBy = async (world: Awaited<ReturnType<typeof runWorld>>) =>
    (await world.store.listByRun(world.runId))[0]!;

  it("is simulated: it has the log up to there, its person is nobody, and nothing is sent or entered in the ledger", async () => {
    const { world, fork } = await ended();
    const original = world.runId;
    const { run, taken, repeats, ahead } = await fork({ at: "0002.review" });
    expect([taken, repeats.map(({ action_name }) => action_name), ahead]).toEqual([2, ["place_order"], ["place"]]);
    world.follow(run.run_id);
    expect(await world.drive()).toBe("done");
    const history = await world.history();
    expect(history.run).toMatchObject({
      status: "SUCCEEDED",
      simulated: true,
      forked_from: { run_id: original, at: "0002.review" },
      workflow_id: world.workflowId,
    });
    expect(history.steps.map(({ position, simulated }) => [position, simulated])).toEqual([
      ["0000.plan", undefined],
      ["0001.stock", undefined],
      ["0002.review", undefined],
      ["0003.place", true],
      ["0004.note", undefined],
    ]);
    expect(await world.state()).toMatchObject({
      review: { outcome: "approved", known_by: "simulation" },
      // The same request: what it came to is known.
      place: { ref: "ref_1" },
    });
    expect(world.downstream.requests).toHaveLength(1);
    expect(await world.store.listByRun(run.run_id)).toEqual([]);
    expect([world.modelRequests.length, world.reads.length]).toEqual([1, 1]);
  });

  it("asks a model again from where it begins, and makes up what another request would have come to", async () => {
    const { world, fork } = await ended();
    const { run } = await fork({ at: "0000.plan" });
    world.modelSays({ amountCents: 9 });
    world.follow(run.run_id);
    expect(await world.drive()).toBe("done");
    expect(await world.state()).toMatchObject({ plan: { amountCents: 9 }, place: { ref: "ref" } });
    expect(world.downstream.requests).toHaveLength(1);
  });

  it("that is live is refused where it would do again what was done, unless each is named; then it is another operation", async () => {
    const { world, fork } = await ended();
    const { operation_id } = await placedBy(world);
    const refused = await faultOf(fork({ at: "0002.review", live: true }));
    expect(refused).toMatchObject({
      code: "would_repeat",
      status: 409,
      message: expect.stringMatching(
        new RegExp(`${operation_id} \\(place_order .*SUCCEEDED\\).*Nothing was started`),
      ) as string,
    });
    expect(world.executions).toHaveLength(1);

    const { run } = await fork({ at: "0002.review", live: true, repeat: [operation_id] });
    world.follow(run.run_id);
    expect(await world.drive()).toBe("waits");
    await world.answer("approved");
    expect(await world.drive()).toBe("done");
    expect(world.downstream.effects).toHaveLength(2);
    expect((await world.store.listByRun(run.run_id)).map((entry) => entry.operation_id)).not.toEqual([operation_id]);
  });

  it("that is live waits until the run has ended: else both would come to the same write", async () => {
    const { world, fork } = await waiting();
    await expect(fork({ at: "0002.review", live: true })).rejects.toMatchObject({
      code: "still_open",
      message: expect.stringMatching(/Nothing was started: surefoot cancel/) as string,
    });
    expect(world.executions).toHaveLength(1);
    expect((await fork({ at: "0002.review" })).run.simulated).toBe(true);
    await cancelRun(world.runId, "kim", world.ports);
    expect((await fork({ at: "0002.review", live: true })).created).toBe(true);
  });

  it("that is live takes along what was done before, and does that never again", async () => {
    const { world, fork } = await ended();
    const { run, repeats } = await fork({ at: "0004.note", live: true });
    expect(repeats).toEqual([]);
    world.follow(run.run_id);
    expect(await world.drive()).toBe("done");
    // Nor can it undo what is the other run's: its records name no operation.
    expect((await world.history()).steps.map(({ operation_id }) => operation_id)).toEqual(Array(5).fill(undefined));
    expect(world.downstream.requests).toHaveLength(1);
  });

  it("never acts on a decision that was made for the other run: it asks anew", async () => {
    const { world, fork } = await ended();
    const { operation_id } = await placedBy(world);
    const original = world.runId;
    const { run } = await fork({ at: "0003.place", live: true, repeat: [operation_id] });
    world.follow(run.run_id);
    expect(await world.drive()).toBe("waits");
    expect(world.downstream.requests).toHaveLength(1);
    expect((await world.history()).waiters).toHaveLength(1);
    // And what was decided there still stands there.
    expect((await world.log.read(original))?.waiters[0]?.superseded).toBeUndefined();
  });

  it("that is live is one run for one place, however often it is asked for", async () => {
    const { world, fork } = await ended();
    const first = await fork({ at: "0004.note", live: true });
    const again = await fork({ at: "0004.note", live: true });
    expect([first.created, again.created, again.run.run_id]).toEqual([true, false, first.run.run_id]);
    expect(world.executions.filter(({ name }) => name.startsWith(first.run.run_id))).toHaveLength(1);
  });

  it("goes on under another version where that may take the log over", async () => {
    const { world, fork, release } = await ended();
    const eight = await release({ version: 8, riskCheck: true });
    await expect(fork({ at: "0002.review", version: 8 })).rejects.toMatchObject({ code: "version_incompatible" });
    const { run } = await fork({ at: "0001.stock", version: 8 });
    world.follow(run.run_id);
    expect(await world.drive({ agent: eight })).toBe("done");
    expect((await world.history()).run).toMatchObject({ status: "SUCCEEDED", workflow_version: 8, simulated: true });
    expect(await world.steps()).toContain("0002.risk_check → review");
  });

  it("from before another version took the run over is of the version that it had then", async () => {
    const { world, release, ports } = await waiting();
    await release({ version: 7 });
    const eight = await release({ version: 8, roles: ["finance"] });
    await resumeRun(world.runId, world.ports, { state_machine_arn: arnOf(8), workflow_version: 8 });
    expect(await world.drive({ execution: 2, agent: eight })).toBe("waits");
    const request = { live: false, version: undefined, repeat: [], by };
    const after = await forkRun(await world.history(), { ...request, at: "0004.review" }, ports);
    const before = await forkRun(await world.history(), { ...request, at: "0002.review" }, ports);
    expect([before.run, after.run].map((run) => [run.workflow_version, run.state_machine_arn])).toEqual([
      [7, arnOf(7)],
      [8, arnOf(8)],
    ]);
    world.follow(before.run.run_id);
    expect(await world.drive()).toBe("done");
    world.follow(after.run.run_id);
    expect(await world.drive({ agent: eight })).toBe("done");
  });

  it.each(["0009.place", "review", "0002.place"])("has no place %s: it says which there are", async (at) => {
    const { fork } = await ended();
    await expect(fork({ at })).rejects.toMatchObject({
      code: "unknown_position",
      message: expect.stringMatching(
        /one of 0000\.plan, 0001\.stock, 0002\.review, 0003\.place, 0004\.note; found/,
      ) as string,
    });
  });
});
