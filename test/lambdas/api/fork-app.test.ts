import { describe, expect, it } from "vitest";
import { createForkApp } from "../../../lambdas/api/fork-app.ts";
import { dynamoReleases } from "../../../shared/release/dynamo-releases.ts";
import { localTables } from "../../builders/local-tables.ts";
import { releasedAgent } from "../../builders/released-agent.ts";
import { runWorld } from "../../builders/run-world.ts";

describe("forking over HTTP", () => {
  const tables = localTables();

  async function ended() {
    const world = await runWorld(tables, { agent: releasedAgent({ version: 7 }) });
    await world.drive();
    await world.answer("approved");
    await world.drive();
    const app = createForkApp({ ...world.ports, releases: dynamoReleases(tables.client(), "runs") });
    return {
      world,
      async post(body: unknown, runId: string = world.runId) {
        const text = JSON.stringify(body);
        const response = await app.request(`/runs/${runId}/fork`, { method: "POST", body: text });
        return { status: response.status, body: (await response.json()) as Record<string, unknown> };
      },
    };
  }

  it("says what was taken along, what is only made up, and what lies ahead", async () => {
    const { world, post } = await ended();
    const answer = await post({ at: "0002.review", by: "kim" });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        simulated: true,
        created: true,
        forked_from: { run_id: world.runId, at: "0002.review" },
        records_taken: 2,
        repeats: [{ action_name: "place_order", status: "SUCCEEDED" }],
        writes_ahead: ["place"],
      },
    });
    expect((await world.log.readRun(String(answer.body["run_id"])))?.started_by).toEqual({
      by: "kim",
      known_by: "claimed",
    });
  });

  it("live, answers a repeated request with the same run", async () => {
    const { post } = await ended();
    const body = { at: "0004.note", live: true, by: "kim" };
    const first = await post(body);
    expect([first.status, (await post(body)).status]).toEqual([201, 200]);
    expect((await post(body)).body["run_id"]).toBe(first.body["run_id"]);
  });

  it.each<[string, unknown, number, string]>([
    ["no place", { by: "kim" }, 400, "invalid_request"],
    ["nobody", { at: "0002.review" }, 400, "decider_missing"],
    ["a foreign field", { at: "0002.review", by: "kim", effects: true }, 400, "invalid_request"],
    ["an unknown place", { at: "0007.pay", by: "kim" }, 404, "unknown_position"],
    ["an effect done twice", { at: "0003.place", live: true, by: "kim" }, 409, "would_repeat"],
    ["an unknown version", { at: "0002.review", version: 12, by: "kim" }, 404, "unknown_version"],
  ])("refuses %s and starts nothing", async (_what, body, status, code) => {
    const { world, post } = await ended();
    expect(await post(body)).toMatchObject({ status, body: { error: { code } } });
    expect(world.executions).toHaveLength(1);
  });

  it("knows no run that is not there", async () => {
    const { post } = await ended();
    expect(await post({ at: "0002.review", by: "kim" }, "nobody")).toMatchObject({ status: 404 });
  });
});
