import { beforeAll, describe, expect, test } from "vitest";
import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import type { ApiClient } from "../../../infra/cli/api-client.ts";
import { CliError } from "../../../infra/cli/cli-error.ts";
import { liveRuns } from "../../../infra/cli/live-runs.ts";
import { checkContract } from "../../../infra/contract/check-contract.ts";
import { type Agent, contractDigest, manifestOf } from "../../../shared/index.ts";
import { approvalFirstAgent, emptyWorld, routedAgent } from "../../builders/agents.ts";
import { localTables } from "../../builders/local-tables.ts";
import { type ApiWorld, apiWorld } from "../../lambdas/api-world.ts";

const tables = localTables();
const agent = approvalFirstAgent(emptyWorld());
let api: ApiWorld;
let client: ApiClient;
let waiting = "";
let started = "";

beforeAll(async () => {
  api = apiWorld(tables, [agent, routedAgent(emptyWorld())]);
  client = {
    url: "in this process",
    async get(path) {
      const { status, body } = await api.get(path);
      if (status === 200) return body;
      throw new CliError(2, body.error.code, body.error.message);
    },
    post: () => Promise.reject(new Error("a check changes nothing")),
  };
  const input = { paymentId: "pi_1", amountCents: 6_000 };
  waiting = (await api.park(agent, "WAITS", input)).runId;
  started = (await api.post("/runs", { agent: agent.name, workflow_id: "RUNS", input })).body.run_id;
  const other = { agent: "routed-agent", workflow_id: "OTHER", input: { orderId: "o", amountCents: 1 } };
  await api.post("/runs", other);
});

const checked = async (current: Agent) => {
  const { runs, isCut } = await liveRuns(client, agent.name);
  const check = checkContract({
    current: manifestOf(current),
    agentModule: "/nowhere/agent.ts",
    replayFolder: "/nowhere",
    live: runs,
  });
  return { isCut, check, live: Object.fromEntries((check.live ?? []).map((run) => [run.run, run])) };
};

describe("the open runs of a deployed stack", () => {
  test("are found, each where it stands, and none of another agent", async () => {
    const { live, isCut } = await checked(agent);
    expect(Object.keys(live).sort()).toEqual([started, waiting].sort());
    expect(live[waiting]).toMatchObject({ verdict: "same", version: 1, at: "review" });
    expect(isCut).toBe(false);
  });

  test("that a change under the same version would hurt are named, with why, and the others are not", async () => {
    const [review, refund] = agent.nodes;
    if (review?.kind !== "approval" || refund?.kind !== "write") throw new Error("expected review, then refund");
    const current: Agent = { ...agent, nodes: [review, { ...refund, tool: { ...refund.tool, version: 4 } }] };
    const { live, check } = await checked(current);
    expect(live[waiting]).toMatchObject({ verdict: "reapprove" });
    expect(live[started]).toMatchObject({ verdict: "compatible" });
    expect(check.problems).toEqual([
      `${waiting} of this version 1, which stands at review, would not simply go on: what was shown is what refund would have done before it changed`,
    ]);
  });

  test("of an earlier version are told, and are no reason to fail: they stay on it", async () => {
    const [review, refund] = agent.nodes;
    if (review?.kind !== "approval" || refund?.kind !== "write") throw new Error("expected review, then refund");
    const current: Agent = { ...agent, version: 2, nodes: [{ ...review, onReject: "review" }, refund] };
    const { live, check } = await checked(current);
    expect(live[waiting]).toMatchObject({ verdict: "reapprove", version: 1 });
    expect(check.problems).toEqual([]);
  });

  test("whose contract was not kept cannot be judged, and that is said", async () => {
    await tables.client().send(
      new DeleteCommand({
        TableName: "runs",
        Key: { run_id: `CONTRACT#${contractDigest(agent)}`, item: "CONTRACT" },
      }),
    );
    const { live } = await checked(agent);
    expect(live[waiting]).toMatchObject({
      verdict: "incompatible",
      hurts: [{ because: expect.stringContaining("was not kept") }],
    });
  });
});
