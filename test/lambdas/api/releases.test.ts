import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { Versions } from "../../../infra/cli/release-shapes.ts";
import { createReleasesApp } from "../../../lambdas/api/releases-app.ts";
import { createRetireApp } from "../../../lambdas/api/retire-app.ts";
import { byKey, days, defineAgent, hours, writeTool } from "../../../shared/index.ts";
import { localTables } from "../../builders/local-tables.ts";
import { type ApiWorld, apiWorld } from "../api-world.ts";

const tables = localTables();
const Order = z.object({ order: z.string() });
const place = writeTool("place", {
  version: 1,
  risk: "high",
  input: Order,
  output: z.object({ ref: z.string() }),
  downstream: byKey({ window: hours(24) }),
  semanticFields: ["order"],
  execute: async () => ({ ref: "never called here" }),
});
/** Asks a person first, so that its runs wait. */
const asks = (name: string, version: number) =>
  defineAgent(name, { version, input: Order })
    .approval("review", {
      of: "place",
      show: ({ input }) => ({
        title: `Place ${input.order}`,
        fields: [{ type: "text", label: "Order", text: input.order }],
        on_approve: "It is placed.",
        on_reject: "Nothing happens.",
      }),
      validFor: days(1),
      onReject: "end",
    })
    .write("place", { tool: place, with: ({ input }) => input, businessKey: ({ input }) => input.order })
    .end();

const names = ["shown", "withdrawn", "repeated", "moved", "refused"] as const;
let world: ApiWorld;
/** Every version as its own deployment starts it. */
let worlds: readonly ApiWorld[];
let tickets = 0;

beforeAll(async () => {
  worlds = [1, 2].map((version) =>
    apiWorld(
      tables,
      names.map((name) => asks(name, version)),
    ),
  );
  world = worlds[0]!;
  for (const agent of names) for (const version of [1, 2]) await release(agent, version);
});

const release = (agent: string, version: number) =>
  world.releases.keep({
    agent,
    workflow_version: version,
    contract_digest: String(version).repeat(64),
    state_machine_arn: `arn:aws:states:us-east-1:000000000000:stateMachine:${agent}:${version}`,
    released_at: `2026-09-0${version}T00:00:00.000Z`,
  });
const waiting = (agent: string, version: number) =>
  worlds[version - 1]!.park(asks(agent, version), `TICKET-${++tickets}`, { order: `ORD-${tickets}` });
const versions = async (query = "") => {
  const response = await createReleasesApp([...names], world).request(`/releases${query}`);
  return { status: response.status, body: (await response.json()) as any }; // eslint-disable-line @typescript-eslint/no-explicit-any -- checked by the expectations
};
const agentsOf = async (query?: string) => Versions.parse((await versions(query)).body).agents;
const retire = async (agent: string, version: number | string, body: unknown, env?: object) => {
  const init = { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) };
  const response = await createRetireApp(world).request(`/releases/${agent}/${version}/retirement`, init, env);
  return { status: response.status, body: (await response.json()) as any }; // eslint-disable-line @typescript-eslint/no-explicit-any -- checked by the expectations
};
const why = { by: "kim", reason: "sends the wrong amount" };

describe("GET /releases", () => {
  it("says of each version whether new runs start on it, and how many open runs need it", async () => {
    const first = await waiting("shown", 1);
    const second = await waiting("shown", 1);
    expect(await versions("?agent=shown")).toEqual({
      status: 200,
      body: {
        agents: [
          {
            agent: "shown",
            live_version: 2,
            versions: [
              {
                workflow_version: 2,
                live: true,
                open_runs: { total: 0, by_status: {}, examples: [] },
                releases: [
                  {
                    contract_digest: "2".repeat(64),
                    state_machine_arn: "arn:aws:states:us-east-1:000000000000:stateMachine:shown:2",
                    released_at: "2026-09-02T00:00:00.000Z",
                  },
                ],
              },
              {
                workflow_version: 1,
                live: false,
                open_runs: { total: 2, by_status: { WAITING: 2 }, examples: expect.any(Array) },
                releases: [expect.objectContaining({ released_at: "2026-09-01T00:00:00.000Z" })],
              },
            ],
          },
        ],
      },
    });
    const [shown] = await agentsOf("?agent=shown");
    expect(new Set(shown?.versions[1]?.open_runs.examples)).toEqual(new Set([first.runId, second.runId]));
  });

  it("lists every agent of the stack, one that is gone by its name, and one that never was as unknown", async () => {
    expect((await agentsOf()).map(({ agent }) => agent)).toEqual([...names]);
    await release("gone", 1);
    expect(await versions("?agent=gone")).toMatchObject({ status: 200, body: { agents: [{ live_version: 1 }] } });
    expect(await versions("?agent=nobody")).toMatchObject({ status: 404, body: { error: { code: "unknown_agent" } } });
    expect(await versions("?agents=shown")).toMatchObject({ status: 400 });
  });

  it("takes the release that was deployed last for live, also where that is an earlier version", async () => {
    await world.releases.keep({
      agent: "back-again",
      workflow_version: 8,
      contract_digest: "8",
      state_machine_arn: "arn:8",
      released_at: "2026-09-01T00:00:00.000Z",
    });
    await world.releases.keep({
      agent: "back-again",
      workflow_version: 7,
      contract_digest: "7",
      state_machine_arn: "arn:7:again",
      released_at: "2026-09-02T00:00:00.000Z",
    });
    expect((await versions("?agent=back-again")).body.agents[0].live_version).toBe(7);
  });
});

describe("retiring a version", () => {
  it("marks its releases and each of its open runs, says what can be done with them, and leaves other versions alone", async () => {
    const [old, other] = [await waiting("withdrawn", 1), await waiting("withdrawn", 2)];
    const answer = await retire("withdrawn", 1, why);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        agent: "withdrawn",
        workflow_version: 1,
        retired: { by: "kim", reason: "sends the wrong amount", at: "2026-09-02T12:00:00.000Z" },
        changed: true,
        runs: { marked: 1, marked_before: 0, left: 0, examples: [old.runId] },
      },
    });
    expect(answer.body.next).toEqual([
      expect.stringContaining("surefoot resume <run> --version"),
      expect.stringContaining("surefoot fork"),
      expect.stringContaining("surefoot cancel"),
    ]);
    expect(await world.log.readRun(old.runId)).toMatchObject({
      status: "WAITING",
      waiting_for: expect.any(String),
      retired: { ...answer.body.retired, workflow_version: 1 },
    });
    expect((await world.log.readRun(other.runId))?.retired).toBeUndefined();
    const [, first] = (await versions("?agent=withdrawn")).body.agents[0].versions;
    expect(first.retired).toEqual(answer.body.retired);
  });

  it("lets nobody decide an approval of it: nothing is decided, and it says what to do", async () => {
    const { runId, path, approvalId } = await waiting("refused", 1);
    await retire("refused", 1, why);
    const answer = await world.post(path, { decision: "approve", by: "ann" });
    expect(answer).toMatchObject({ status: 409, body: { error: { code: "version_retired" } } });
    expect(answer.body.error.message).toBe(
      `approval ${approvalId} belongs to version 1 of refused, which was retired by kim: sends the wrong amount. Nothing was decided: surefoot resume ${runId} --version <n> takes the run to another version, fork or cancel ends it here`,
    );
    expect((await world.log.read(runId))?.steps).toEqual([]);
    expect(await world.get(`/runs/${runId}`)).toMatchObject({
      body: { retired: { by: "kim", reason: "sends the wrong amount" } },
    });
  });

  it("is safe to repeat: the first word stays, and runs that were missed are marked", async () => {
    const first = await waiting("repeated", 1);
    await retire("repeated", 1, why);
    const missed = await waiting("repeated", 1);
    const again = await retire("repeated", 1, { by: "lee", reason: "me too" });
    expect(again).toMatchObject({
      status: 200,
      body: {
        retired: { by: "kim", reason: "sends the wrong amount" },
        changed: false,
        runs: { marked: 1, marked_before: 1, examples: [missed.runId] },
      },
    });
    for (const { runId } of [first, missed]) {
      expect((await world.log.readRun(runId))?.retired).toMatchObject({ by: "kim", workflow_version: 1 });
    }
  });

  it("keeps what a run says of its present status, and marks none that has moved on meanwhile", async () => {
    const parked = await waiting("moved", 1);
    const run = (await world.log.readRun(parked.runId))!;
    const failure = {
      position: "0000.review",
      node: "review",
      error: { code: "boom", failure_class: "final" as const, message: "boom", facts: {} },
      attempts: 1,
      next_move: "mend it",
    };
    const moving_to = { state_machine_arn: "arn:2", workflow_version: 2 };
    await world.log.change(run, ["WAITING"], { status: "PARKED", failure, moving_to });
    const gone = await waiting("moved", 1);
    await world.log.change((await world.log.readRun(gone.runId))!, ["WAITING"], {
      status: "WAITING",
      workflow_version: 2,
    });
    expect((await retire("moved", 1, why)).body.runs).toMatchObject({ marked: 1, examples: [parked.runId] });
    expect(await world.log.readRun(parked.runId)).toMatchObject({ status: "PARKED", failure, moving_to });
  });

  it("is refused for the version that new runs start on, and for one that was never deployed", async () => {
    expect(await retire("shown", 2, why)).toMatchObject({ status: 409, body: { error: { code: "version_live" } } });
    const unknown = await retire("shown", 9, why);
    expect(unknown).toMatchObject({ status: 404, body: { error: { code: "unknown_version" } } });
    expect(unknown.body.error.message).toContain('there is no version 9 of "shown": there are 2, 1');
    expect((await retire("nobody", 1, why)).body.error.message).toContain("none of it was deployed here");
    const [shown] = await agentsOf("?agent=shown");
    expect(shown?.versions.map(({ retired }) => retired)).toEqual([undefined, undefined]);
  });

  it.each([
    ["shown", 1, { by: "kim" }, "reason is missing"],
    ["shown", 1, { by: "kim", reason: "  " }, "reason"],
    ["shown", 1, { reason: "why" }, "by"],
    ["shown", "1.5", why, "expected a whole number from 1"],
    ["shown", 0, why, "expected a whole number from 1"],
    ["shown", 1, { ...why, force: true }, "force"],
    ["shown", 1, "{", "JSON"],
  ])("of %s %s with %j is refused, and changes nothing", async (agent, version, body, says) => {
    const { status, body: answered } = await retire(agent, version, body);
    expect(status).toBe(400);
    expect(answered.error.message).toContain(says);
    expect((await world.releases.list("shown")).filter((each) => each.retired)).toEqual([]);
  });

  it("is by whom API Gateway says it is, whatever the body claims", async () => {
    await release("by-whom", 1);
    await release("by-whom", 2);
    const iam = { event: { requestContext: { authorizer: { iam: { userArn: "arn:aws:iam::1:user/lee" } } } } };
    expect((await retire("by-whom", 1, why, iam)).body.retired.by).toBe("arn:aws:iam::1:user/lee");
  });
});
