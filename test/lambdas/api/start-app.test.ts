import { beforeAll, describe, expect, test } from "vitest";
import refundAgent from "../../../lambdas/agents/refund-agent/agent.ts";
import { createStartApp } from "../../../lambdas/api/start-app.ts";
import { contractDigest } from "../../../shared/contract/manifest.ts";
import { approvalFirstAgent, emptyWorld } from "../../builders/agents.ts";
import { localTables } from "../../builders/local-tables.ts";
import { type ApiWorld, apiWorld } from "../api-world.ts";

const tables = localTables();
const other = approvalFirstAgent(emptyWorld());
let api: ApiWorld;
beforeAll(() => {
  api = apiWorld(tables, [refundAgent, other]);
});

const ticket = {
  orderId: "ORD-1",
  paymentId: "pi_1",
  requestedAmountCents: 6_000,
  customerEmail: "customer@example.com",
  message: "It arrived broken.",
};
const request = (over: object = {}) => ({ agent: "refund-agent", workflow_id: "TICKET-1", input: ticket, ...over });
const withInput = (over: object) => request({ input: { ...ticket, ...over } });

describe("a request that is refused leaves nothing behind", () => {
  test.each<[string, unknown, number, string, RegExp]>([
    ["text that is no JSON", "{agent:", 400, "not_json", /not JSON.*send an object.*application\/json/],
    ["an empty body", "", 400, "not_json", /not JSON/],
    ["a list", "[]", 400, "invalid_request", /body: .*expected object.*Nothing was started/],
    ["null", "null", 400, "invalid_request", /body: .*expected object/],
    ["no workflow id", { agent: "refund-agent", input: ticket }, 400, "invalid_request", /workflow_id is missing/],
    ["a number for the agent", request({ agent: 7 }), 400, "invalid_request", /agent: .*expected string.*number/],
    ["a word for allow_new_run", request({ allow_new_run: "yes" }), 400, "invalid_request", /allow_new_run: .*boolean/],
    [
      "an unknown field",
      request({ workflowId: "T" }),
      400,
      "invalid_request",
      /unknown "workflowId": expected only agent, workflow_id, input, allow_new_run/,
    ],
    ["a workflow id with a colon", request({ workflow_id: "a:b" }), 400, "invalid_request", /workflow_id: .*no colon/],
    ["a workflow id with spaces", request({ workflow_id: "a b" }), 400, "invalid_request", /workflow_id: .*no spaces/],
    ["an empty workflow id", request({ workflow_id: "" }), 400, "invalid_request", /workflow_id: expected 1 to 128/],
    ["a long workflow id", request({ workflow_id: "x".repeat(129) }), 400, "invalid_request", /expected 1 to 128/],
    [
      "an unknown agent",
      request({ agent: "refnd" }),
      404,
      "unknown_agent",
      /"refnd".*refund-agent, approval-first-agent/,
    ],
    ["an agent named like a built-in", request({ agent: "__proto__" }), 404, "unknown_agent", /"__proto__"/],
    ["no input", { agent: "refund-agent", workflow_id: "T" }, 400, "invalid_request", /input is missing/],
    [
      "a negative amount",
      withInput({ requestedAmountCents: -1 }),
      400,
      "invalid_input",
      /input\.requestedAmountCents: .*>0/,
    ],
    ["no amount at all", withInput({ requestedAmountCents: 0 }), 400, "invalid_input", /requestedAmountCents: .*>0/],
    [
      "a fraction of a cent",
      withInput({ requestedAmountCents: 1.5 }),
      400,
      "invalid_input",
      /requestedAmountCents: .*expected int/,
    ],
    [
      "an amount as text",
      withInput({ requestedAmountCents: "60" }),
      400,
      "invalid_input",
      /expected number, received string/,
    ],
    [
      "a bad e-mail address",
      withInput({ customerEmail: "nobody" }),
      400,
      "invalid_input",
      /input\.customerEmail: .*email/,
    ],
    [
      "a message beyond its limit",
      withInput({ message: "x".repeat(20_001) }),
      400,
      "invalid_input",
      /input\.message: /,
    ],
    [
      "a body beyond the limit",
      withInput({ message: "ü".repeat(3_300_000) }),
      413,
      "body_too_large",
      /at most \d+ bytes, found \d+: pass a reference/,
    ],
  ])("%s", async (_what, body, status, code, message) => {
    const before = await api.traces();
    const answer = await api.post("/runs", body);

    expect(answer.body.error).toEqual({ code, message: expect.stringMatching(message) as string });
    expect(answer.status).toBe(status);
    expect(before.items).toBe(0);
    expect(await api.traces()).toEqual(before);
  });
});

describe("a workflow id has one open run", () => {
  test("a start writes the run, its workflow and once its contract, and hands ids to the state machine, never the input", async () => {
    const { status, body } = await api.post("/runs", request());

    expect(status).toBe(201);
    expect(body).toEqual({
      run_id: expect.stringMatching(/^refund-agent-20260902-[0-9a-z]+$/) as string,
      workflow_id: "TICKET-1",
      agent: "refund-agent",
      status: "RUNNING",
      created: true,
    });
    expect(api.started).toEqual([
      {
        stateMachineArn: "arn:of:refund-agent",
        name: `${body.run_id}-1`,
        input: { run_id: body.run_id, position: "0000.plan", next: "plan" },
      },
    ]);
    expect((await api.traces()).items).toBe(3);
  });

  test("the same start again returns the run that exists, and makes sure that it was started", async () => {
    const first = await api.post("/runs", request({ workflow_id: "TICKET-2" }));
    const before = await api.traces();
    const second = await api.post("/runs", request({ workflow_id: "TICKET-2" }));

    expect(second.status).toBe(200);
    expect(second.body).toEqual({ ...first.body, created: false, same_input: true });
    expect(api.started.at(-1)).toEqual(api.started.at(-2));
    expect(await api.traces()).toEqual({ ...before, started: before.started + 1 });
  });

  test("key order and fields that the agent does not know make no other input", async () => {
    const first = await api.post("/runs", request({ workflow_id: "TICKET-3" }));
    const reversed = Object.fromEntries([["note", "ignored"], ...Object.entries(ticket).reverse()]);
    const second = await api.post("/runs", request({ workflow_id: "TICKET-3", input: reversed }));

    expect(second.body).toMatchObject({ run_id: first.body.run_id, created: false, same_input: true });
  });

  test("another input for the same workflow id starts nothing and says so", async () => {
    const first = await api.post("/runs", request({ workflow_id: "TICKET-4" }));
    const before = await api.traces();
    const { status, body } = await api.post("/runs", {
      ...withInput({ requestedAmountCents: 9_999 }),
      workflow_id: "TICKET-4",
      allow_new_run: true,
    });

    expect(status).toBe(200);
    expect(body).toMatchObject({ run_id: first.body.run_id, created: false, same_input: false });
    expect((await api.traces()).items).toBe(before.items);
  });

  test("after its end a new run follows only where the caller allows it", async () => {
    const first = await api.post("/runs", request({ workflow_id: "TICKET-5" }));
    const run = await api.log.readRun(first.body.run_id);
    if (run) await api.log.change(run, ["RUNNING"], { status: "SUCCEEDED", outcome: "completed" });

    const refused = await api.post("/runs", request({ workflow_id: "TICKET-5" }));
    expect(refused.body).toMatchObject({ run_id: first.body.run_id, status: "SUCCEEDED", created: false });

    const followed = await api.post("/runs", request({ workflow_id: "TICKET-5", allow_new_run: true }));
    expect(followed.status).toBe(201);
    expect(followed.body.run_id).not.toBe(first.body.run_id);
  });

  test("fifty starts at once make one run", async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => api.post("/runs", request({ workflow_id: "TICKET-6" }))),
    );

    expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(49);
  });

  test("two agents may each have a run for one workflow id", async () => {
    const one = await api.post("/runs", request({ workflow_id: "TICKET-7" }));
    const two = await api.post("/runs", {
      agent: "approval-first-agent",
      workflow_id: "TICKET-7",
      input: { paymentId: "pi_1", amountCents: 100 },
    });

    expect([one.status, two.status]).toEqual([201, 201]);
  });
});

describe("trouble inside", () => {
  test("an engine that fails is a 500 without its words, and the same request starts the run that was written", async () => {
    const start = api.executions.start;
    api.executions.start = () => Promise.reject(new Error("secret of the engine at 10.0.0.7"));
    const failed = await api.post("/runs", request({ workflow_id: "TICKET-8" }));
    api.executions.start = start;

    expect(failed.status).toBe(500);
    expect(failed.body).toEqual({
      error: { code: "internal", message: expect.stringMatching(/failed here.*try again/) as string },
    });
    const again = await api.post("/runs", request({ workflow_id: "TICKET-8" }));
    expect(again).toMatchObject({ status: 200, body: { created: false, same_input: true, status: "RUNNING" } });
    expect(api.started.at(-1)?.name).toBe(`${again.body.run_id}-1`);
  });

  test("an address that does not exist is named", async () => {
    expect(await api.post("/runs/x", {})).toMatchObject({
      status: 404,
      body: { error: { code: "not_found", message: expect.stringContaining("POST /runs/x") as string } },
    });
  });
});

describe("in the middle of a deployment", () => {
  const startedOn = (contract: string) =>
    createStartApp(
      [refundAgent],
      { stateMachines: { "refund-agent": "arn:8" }, contracts: { "refund-agent": contract } },
      api,
    );
  const post = async (contract: string) => {
    const init = { method: "POST", body: JSON.stringify(request({ workflow_id: "TICKET-DEPLOYING" })) };
    const response = await startedOn(contract).request("/runs", init);
    return { status: response.status, body: await response.json() };
  };

  test("nothing is started while the code has another contract than the states, and a moment later it is", async () => {
    const before = await api.traces();
    expect(await post("0".repeat(64))).toEqual({
      status: 503,
      body: {
        error: {
          code: "deploying",
          message: "a deployment of refund-agent is under way: nothing was started; try again in a minute",
        },
      },
    });
    expect(await api.traces()).toEqual(before);
    expect(await post(contractDigest(refundAgent))).toMatchObject({ status: 201, body: { created: true } });
    expect(api.started.at(-1)).toMatchObject({ stateMachineArn: "arn:8" });
  });
});
