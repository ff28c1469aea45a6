import { beforeAll, describe, expect, test } from "vitest";
import { manifestOf } from "../../../shared/index.ts";
import { approvalFirstAgent, emptyWorld, routedAgent } from "../../builders/agents.ts";
import { localTables } from "../../builders/local-tables.ts";
import { type ApiWorld, apiWorld } from "../api-world.ts";

const tables = localTables();
const agent = approvalFirstAgent(emptyWorld());
let api: ApiWorld;
/** Run ids, oldest first: one that waits, then four that run, the last of another agent. */
let runs: string[] = [];

beforeAll(async () => {
  api = apiWorld(tables, [agent, routedAgent(emptyWorld())]);
  const input = { paymentId: "pi_1", amountCents: 6_000 };
  const { runId } = await api.park(agent, "OLD-1", input);
  runs = [runId];
  for (const workflow of ["TASK-1", "TASK-2", "TASK-3"]) {
    api.clock.advance(1_000);
    runs.push((await api.post("/runs", { agent: agent.name, workflow_id: workflow, input })).body.run_id);
  }
  api.clock.advance(1_000);
  const other = { agent: "routed-agent", workflow_id: "TASK-3", input: { orderId: "ORD-1", amountCents: 1 } };
  runs.push((await api.post("/runs", other)).body.run_id);
});

const idsOf = async (path: string): Promise<string[]> => {
  const { status, body } = await api.get(path);
  expect(status).toBe(200);
  return (body.runs as { run_id: string }[]).map((run) => run.run_id);
};

describe("GET /runs", () => {
  test("lists the runs of every agent, newest first, without their inputs", async () => {
    expect(await idsOf("/runs")).toEqual(runs.toReversed());
    expect((await api.get("/runs")).text).not.toContain("pi_1");
  });

  test("cuts after the limit, across agents", async () => {
    expect(await idsOf("/runs?limit=1")).toEqual([runs[4]]);
    expect(await idsOf("/runs?limit=200")).toHaveLength(5);
  });

  test("an open status finds a run however many newer ones there are", async () => {
    expect(await idsOf("/runs?status=WAITING&limit=1")).toEqual([runs[0]]);
    expect((await api.get("/runs?status=WAITING")).body.runs[0]).toMatchObject({ waiting_for: "review" });
  });

  test("an ended status lists the runs that ended so", async () => {
    const run = await api.log.readRun(runs[1] ?? "");
    if (run) await api.log.change(run, ["RUNNING"], { status: "FAILED" });

    expect(await idsOf("/runs?status=FAILED&limit=1")).toEqual([runs[1]]);
    expect(await idsOf("/runs?status=CANCELLED")).toEqual([]);
  });

  test("every part of a filter counts", async () => {
    expect(await idsOf("/runs?workflow_id=TASK-3")).toEqual([runs[4], runs[3]]);
    expect(await idsOf("/runs?workflow_id=TASK-3&agent=routed-agent")).toEqual([runs[4]]);
    expect(await idsOf("/runs?workflow_id=TASK-3&limit=1")).toEqual([runs[4]]);
    expect(await idsOf("/runs?workflow_id=TASK-3&status=WAITING")).toEqual([]);
    expect(await idsOf("/runs?agent=routed-agent&status=RUNNING")).toEqual([runs[4]]);
  });

  test.each([
    ["limit=0", "invalid_request", /limit: expected a whole number from 1 to 200, found "0"/],
    ["limit=201", "invalid_request", /found "201"/],
    ["limit=-1", "invalid_request", /found "-1"/],
    ["limit=abc", "invalid_request", /found "abc"/],
    ["limit=1.5", "invalid_request", /found "1.5"/],
    ["limit=1e1", "invalid_request", /found "1e1"/],
    ["limit=", "invalid_request", /found ""/],
    ["status=BROKEN", "invalid_request", /status: expected one of RUNNING, WAITING, PARKED.*found "BROKEN"/],
    ["workflow_id=", "invalid_request", /workflow_id: expected 1 to 128/],
    ["workflow_id=a:b", "invalid_request", /workflow_id: .*no colon/],
    ["workflowId=x", "invalid_request", /unknown "workflowId": expected only agent, workflow_id, status, limit/],
    ["agent=refnd", "unknown_agent", /no agent "refnd" here: expected one of approval-first-agent, routed-agent/],
    ["agent=", "unknown_agent", /no agent ""/],
  ])("%s is refused", async (query, code, message) => {
    const { status, body } = await api.get(`/runs?${query}`);

    expect(body.error).toEqual({ code, message: expect.stringMatching(message) as string });
    expect(status).toBe(code === "unknown_agent" ? 404 : 400);
  });
});

describe("GET /runs/{run_id}", () => {
  test("shows the run with its steps, operations and waiters", async () => {
    const { status, body } = await api.get(`/runs/${runs[0]}`);

    expect(status).toBe(200);
    expect(body).toMatchObject({
      run_id: runs[0],
      workflow_id: "OLD-1",
      agent: "approval-first-agent",
      status: "WAITING",
      waiting_for: "review",
      input: { paymentId: "pi_1", amountCents: 6_000 },
      steps: [],
      operations: [{ action_name: "create_refund", status: "PENDING", attempt: 0, may_have_applied: false }],
      waiters: [{ waiter_id: `${runs[0]}:0000.review`, kind: "approval", status: "OPEN" }],
      failures: [],
    });
  });

  test.each([
    "nothing-like-it",
    "100%25",
    "%E0%A4%A",
    "a%20b",
    "a:b",
    "WORKFLOW%23routed-agent%23TASK-3",
    "..%2f..",
    "x".repeat(3_000),
    "%00",
    "🙂",
  ])("%s is no run", async (id) => {
    const { status, body } = await api.get(`/runs/${id}`);

    expect(body.error.code).toBe("unknown_run");
    expect(body.error.message).toMatch(/^there is no run ".*": surefoot runs lists them$/s);
    expect(status).toBe(404);
  });

  test("a record in a shape that this version cannot read is named, without its content", async () => {
    const run = await api.log.readRun(runs[2] ?? "");
    expect(run).toBeDefined();
    const { PutCommand } = await import("@aws-sdk/lib-dynamodb");
    await tables.client().send(
      new PutCommand({
        TableName: "runs",
        Item: { run_id: runs[2], item: "STEP#0000.review", output: "secret content" },
      }),
    );
    const { status, body, text } = await api.get(`/runs/${runs[2]}`);

    expect(status).toBe(500);
    expect(body.error.code).toBe("record_corrupt");
    expect(body.error.message).toMatch(new RegExp(`step STEP#0000.review of run ${runs[2]} is stored in a shape`));
    expect(text).not.toContain("secret content");
    expect(text).not.toMatch(/\.ts:\d+|at async/);
  });
});

describe("GET /contracts/{digest}", () => {
  test("is what a run relies on, as its version was released", async () => {
    const { body: run } = await api.get(`/runs/${runs[0]}`);
    const { status, body } = await api.get(`/contracts/${run.contract_digest}`);
    expect(status).toBe(200);
    expect(body).toEqual(manifestOf(agent));
    expect(run).toMatchObject({ entry: "review", waiters: [{ routes: { approved: "refund", rejected: "end" } }] });
  });

  test.each(["0".repeat(64), "nothing", "..%2f..%2fetc"])("%s is none", async (digest) => {
    const { status, body } = await api.get(`/contracts/${digest}`);
    expect(status).toBe(404);
    expect(body.error.code).toBe("unknown_contract");
  });
});

describe("GET /operations", () => {
  test("lists by run, by open status, and by both", async () => {
    const byRun = await api.get(`/operations?run_id=${runs[0]}`);
    expect(byRun.body.operations).toMatchObject([{ run_id: runs[0], status: "PENDING" }]);
    expect(byRun.text).not.toContain("attempt_token");
    expect((await api.get("/operations?status=PENDING")).body).toEqual(byRun.body);
    expect((await api.get(`/operations?run_id=${runs[0]}&status=PENDING`)).body).toEqual(byRun.body);
    expect((await api.get(`/operations?run_id=${runs[0]}&status=SUCCEEDED`)).body).toEqual({ operations: [] });
    expect((await api.get("/operations?status=UNKNOWN")).body).toEqual({ operations: [] });
  });

  test("a run without operations has an empty list", async () => {
    expect((await api.get(`/operations?run_id=${runs[3]}`)).body).toEqual({ operations: [] });
  });

  test.each([
    ["", 400, "invalid_request", /expected run_id, status, or both: the whole ledger is not listed/],
    ["?status=LOST", 400, "invalid_request", /status: expected one of PENDING, .*found "LOST"/],
    ["?status=SUCCEEDED", 400, "invalid_request", /by run only.*PENDING, STARTED, FAILED_RETRYABLE, UNKNOWN/],
    ["?run=x", 400, "invalid_request", /unknown "run": expected only run_id, status/],
    ["?run_id=", 404, "unknown_run", /there is no run ""/],
    ["?run_id=typing-error", 404, "unknown_run", /there is no run "typing-error"/],
  ])("'%s' is refused", async (query, status, code, message) => {
    const answer = await api.get(`/operations${query}`);

    expect(answer.body.error).toEqual({ code, message: expect.stringMatching(message) as string });
    expect(answer.status).toBe(status);
  });
});

test("a fault inside is logged by its place, not by its words", async () => {
  const read = api.log.read;
  api.log.read = () => Promise.reject(new TypeError("the customer's secret"));
  const { status, text } = await api.get(`/runs/${runs[0]}`);
  api.log.read = read;

  expect(status).toBe(500);
  expect(text).not.toContain("secret");
  const line = api.logger.lines.at(-1);
  expect(line).toMatchObject({
    level: "error",
    message: "request failed",
    fields: { code: "TypeError", method: "GET" },
  });
  expect(line?.fields["where"]).toMatch(/^at .*read-app\.test\.ts/);
  expect(JSON.stringify(line)).not.toContain("secret");
});
