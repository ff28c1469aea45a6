import { DeleteCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { createControlApp } from "../../../lambdas/api/control-app.ts";
import { keepContract } from "../../../shared/contract/kept-contract.ts";
import { contractDigest } from "../../../shared/contract/manifest.ts";
import type { Agent } from "../../../shared/index.ts";
import { dynamoReleases } from "../../../shared/release/dynamo-releases.ts";
import { openRunStatuses } from "../../../shared/runlog/run-record.ts";
import { localTables } from "../../builders/local-tables.ts";
import { partsOf } from "../../builders/order-agent.ts";
import { releasedAgent, type ReleaseOptions } from "../../builders/released-agent.ts";
import { runWorld } from "../../builders/run-world.ts";

const arnOf = (version: number) => `arn:aws:states:us-east-1:000000000000:stateMachine:released-agent:${version}`;

describe("resuming a run on a version that is named", () => {
  const tables = localTables();

  /** Each test's world has the tables for itself, and the same agent. */
  async function forgetReleases() {
    const partition = { run_id: "RELEASE#released-agent" };
    const { Items = [] } = await tables.client().send(
      new QueryCommand({
        TableName: "runs",
        KeyConditionExpression: "run_id = :partition",
        ExpressionAttributeValues: { ":partition": partition.run_id },
      }),
    );
    for (const { item } of Items) {
      await tables
        .client()
        .send(new DeleteCommand({ TableName: "runs", Key: { ...partition, item: item as unknown } }));
    }
  }

  async function waiting() {
    const world = await runWorld(tables, { agent: releasedAgent({ version: 7 }) });
    await world.drive();
    const releases = dynamoReleases(tables.client(), "runs");
    await forgetReleases();
    const made = (options: ReleaseOptions): Agent =>
      releasedAgent(options)(partsOf(() => world.life(), world.downstream, world.reads));
    const app = createControlApp({ ...world.ports, ledgerStore: world.store, releases });
    return {
      world,
      releases,
      /** Deploys it, as far as the tables know. */
      async release(options: ReleaseOptions): Promise<Agent> {
        const agent = made(options);
        await keepContract(agent, world);
        await releases.keep({
          agent: agent.name,
          workflow_version: agent.version,
          contract_digest: contractDigest(agent),
          state_machine_arn: arnOf(agent.version),
          released_at: "2026-09-02T12:00:00.000Z",
        });
        return agent;
      },
      async resume(body: object) {
        const text = JSON.stringify({ by: "kim", ...body });
        const response = await app.request(`/runs/${world.runId}/resume`, { method: "POST", body: text });
        return { status: response.status, body: (await response.json()) as Record<string, unknown> };
      },
    };
  }

  it("takes it there and says what that means for it", async () => {
    const { world, release, resume } = await waiting();
    const eight = await release({ version: 8, roles: ["finance"] });
    expect(await resume({ version: 8 })).toMatchObject({
      status: 200,
      body: { status: "RUNNING", to_version: 8, verdict: "reapprove", asks_again: true },
    });
    expect(await world.drive({ execution: 2, agent: eight })).toBe("waits");
    expect((await world.history()).run).toMatchObject({ workflow_version: 8, state_machine_arn: arnOf(8) });
  });

  it.each<[string, ReleaseOptions | undefined, number, string, RegExp]>([
    ["there is no such version", { version: 8 }, 404, "unknown_version", /one of 8; found 9: surefoot versions/],
    [
      "no version is known",
      undefined,
      404,
      "unknown_version",
      /expected a deployed version of released-agent; found 9/,
    ],
    [
      "it has skipped a node there",
      { version: 9, riskCheck: true },
      409,
      "version_incompatible",
      /they have skipped risk_check: it ends on version 7, or is forked. Nothing was changed/,
    ],
  ])("changes nothing where %s", async (_what, options, status, code, message) => {
    const { world, release, resume } = await waiting();
    if (options) await release(options);
    const before = await world.history();
    const answer = await resume({ version: 9 });
    expect(answer).toMatchObject({
      status,
      body: { error: { code, message: expect.stringMatching(message) as string } },
    });
    expect(await world.history()).toEqual(before);
    expect(world.executions).toHaveLength(1);
  });

  it("is refused where that version was retired", async () => {
    const { releases, release, resume } = await waiting();
    await release({ version: 8 });
    await releases.retire("released-agent", 8, { at: "2026-09-03T00:00:00.000Z", by: "sec", reason: "leaks" });
    expect(await resume({ version: 8 })).toMatchObject({ status: 409, body: { error: { code: "version_retired" } } });
  });

  it("is asked for where its own was retired", async () => {
    const { world, release, resume } = await waiting();
    const eight = await release({ version: 8 });
    const { run } = await world.history();
    const retired = { at: "2026-09-03T00:00:00.000Z", by: "sec", reason: "leaks", workflow_version: 7 };
    await world.log.change(run, openRunStatuses, { retired });
    expect(await resume({})).toMatchObject({
      status: 409,
      body: {
        error: {
          code: "version_retired",
          message: expect.stringMatching(/retired by sec: leaks.*--version/) as string,
        },
      },
    });
    expect(await resume({ version: 8 })).toMatchObject({ status: 200, body: { verdict: "compatible" } });
    expect(await world.drive({ execution: 2, agent: eight })).toBe("waits");
  });

  it.each([0, 1.5, "8"])("refuses %j, which is no version", async (version) => {
    const { resume } = await waiting();
    expect(await resume({ version })).toMatchObject({ status: 400, body: { error: { code: "invalid_request" } } });
  });
});
