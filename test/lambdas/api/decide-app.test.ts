import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { approvalFirstAgent, emptyWorld } from "../../builders/agents.ts";
import { localTables } from "../../builders/local-tables.ts";
import { type ApiWorld, apiWorld, secretToken } from "../api-world.ts";

const tables = localTables();
const agent = approvalFirstAgent(emptyWorld());
const dayMs = 24 * 3_600_000;
let api: ApiWorld;
let tickets = 0;
let parked: Awaited<ReturnType<ApiWorld["park"]>>;
let digest: string;

beforeAll(() => {
  api = apiWorld(tables, [agent]);
});
beforeEach(async () => {
  api.wakesAs(() => "woken");
  parked = await api.park(agent, `TICKET-${++tickets}`, { paymentId: "pi_1", amountCents: 6_000 });
  digest = (await api.get(parked.path)).body.payload_digest;
});

const byIam = (userArn: string) => ({ event: { requestContext: { authorizer: { iam: { userArn } } } } });
const approve = (over: object = {}) => ({ decision: "approve", by: "ann", ...over });

describe("a decision that is refused decides nothing and wakes nobody", () => {
  test.each<[string, unknown, number, string, RegExp]>([
    ["text that is no JSON", "yes", 400, "not_json", /not JSON/],
    [
      "no decision",
      { by: "ann" },
      400,
      "invalid_request",
      /decision: expected one of approve, reject.*Nothing was decided/,
    ],
    [
      "another word",
      approve({ decision: "maybe" }),
      400,
      "invalid_request",
      /expected one of approve, reject, found "maybe"/,
    ],
    [
      "an unknown field",
      approve({ force: true }),
      400,
      "invalid_request",
      /unknown "force": expected only decision, by, comment, payload_digest, expected_version/,
    ],
    ["nobody who decides", { decision: "approve" }, 400, "decider_missing", /`by` is missing.*Nothing was decided/],
    ["an empty name", approve({ by: "" }), 400, "invalid_request", /by: /],
    ["a name beyond the limit", approve({ by: "x".repeat(257) }), 400, "invalid_request", /by: /],
    ["a comment beyond the limit", approve({ comment: "x".repeat(4_001) }), 400, "invalid_request", /comment: /],
    [
      "a foreign digest",
      approve({ payload_digest: "f".repeat(64) }),
      409,
      "digest_changed",
      /look at it again.*Nothing was decided/,
    ],
  ])("%s", async (_what, body, status, code, message) => {
    const before = await api.traces();
    const answer = await api.post(parked.path, body);

    expect(answer.body.error).toEqual({ code, message: expect.stringMatching(message) as string });
    expect(answer.status).toBe(status);
    expect(await api.traces()).toEqual(before);
    expect((await api.get(parked.path)).body.status).toBe("pending");
  });

  test.each([
    ["no such run", "/approvals/run-1:0000.review"],
    ["no such position", () => parked.path.replace("0000", "0007")],
    ["a run id alone", () => `/approvals/${parked.runId}`],
    ["half an escape", "/approvals/100%25:0000.review"],
    ["slashes", "/approvals/a/b/c"],
    ["a run id longer than a key may be", `/approvals/${"x".repeat(3_000)}:0000.review`],
    ["a position longer than a key may be", () => `/approvals/${parked.runId}:0000.${"x".repeat(3_000)}`],
    ["the key of another item", "/approvals/WORKFLOW%23a%23b:0000.review"],
  ])("an approval that does not exist: %s", async (_what, place) => {
    const path = typeof place === "string" ? place : place();
    const before = await api.traces();
    for (const answer of [await api.get(path), await api.post(path, approve())]) {
      expect(answer.body.error).toMatchObject({
        code: "unknown_approval",
        message: expect.stringMatching(/^there is no approval ".*": surefoot approvals lists/) as string,
      });
      expect(answer.status).toBe(404);
    }
    expect(await api.traces()).toEqual(before);
  });
});

describe("what a reviewer is shown", () => {
  test("the listing holds what is asked for, and never the task token", async () => {
    const { status, body, text } = await api.get("/approvals");
    const mine = (body.approvals as { approval_id: string }[]).find(
      (approval) => approval.approval_id === parked.approvalId,
    );

    expect(status).toBe(200);
    expect(mine).toMatchObject({
      status: "pending",
      run_id: parked.runId,
      agent: "approval-first-agent",
      node: "review",
      risk: "high",
      action_name: "create_refund",
      payload_digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      view: { title: "Refund", fields: [{ type: "money", amount_cents: 6_000, currency: "EUR" }] },
      requested_at: "2026-09-02T12:00:00.000Z",
      expires_at: "2026-09-03T12:00:00.000Z",
    });
    for (const shown of [text, (await api.get(parked.path)).text, (await api.get(`/runs/${parked.runId}`)).text]) {
      expect(shown).not.toContain(secretToken);
      expect(shown).not.toContain("task_token");
    }
  });
});

describe("a decision that counts", () => {
  test("is recorded with who, how that is known, when, and on which request, and wakes the run", async () => {
    const { status, body } = await api.post(parked.path, approve({ comment: "looks right", payload_digest: digest }));

    expect(status).toBe(200);
    expect(body).toEqual({
      approval_id: parked.approvalId,
      run_id: parked.runId,
      status: "approved",
      decision: {
        outcome: "approved",
        approval_id: parked.approvalId,
        by: "ann",
        known_by: "claimed",
        comment: "looks right",
        payload_digest: digest,
        tool_version: 3,
        workflow_version: 1,
        prompt_versions: {},
        valid_until: "2026-09-03T12:00:00.000Z",
        at: "2026-09-02T12:00:00.000Z",
      },
      resumed: true,
      wake: "woken",
    });
    expect(api.woken.at(-1)).toEqual({ taskToken: secretToken });
    expect((await api.get("/approvals")).text).not.toContain(parked.approvalId);
    expect((await api.get(parked.path)).body).toMatchObject({ status: "approved", decision: { by: "ann" } });
  });

  test("a rejection wakes the run by the name that the state machine catches", async () => {
    const { status } = await api.post(parked.path, { decision: "reject", by: "ann", comment: "too much" });

    expect(status).toBe(200);
    expect(api.woken.at(-1)).toEqual({ taskToken: secretToken, error: "surefoot.rejected" });
  });

  test("the caller that API Gateway knows counts, whatever the body claims", async () => {
    const arn = "arn:aws:iam::111122223333:user/bob";
    const { body } = await api.post(parked.path, approve({ by: "the-boss" }), byIam(arn));

    expect(body.decision).toMatchObject({ by: arn, known_by: "iam" });
  });

  test("a caller that API Gateway knows need not name itself", async () => {
    const { status } = await api.post(
      parked.path,
      { decision: "approve" },
      byIam("arn:aws:iam::111122223333:user/bob"),
    );

    expect(status).toBe(200);
  });

  test("the same decision again is 200 and says that the run was told before, also after the approval's end", async () => {
    const first = await api.post(parked.path, approve());
    const woken = api.woken.length;
    api.clock.advance(2 * dayMs);
    const again = await api.post(parked.path, approve());

    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...first.body, wake: "told_before" });
    expect(api.woken).toHaveLength(woken);
  });

  test("a wake-up that fails is a 500, and the same decision again is 200 and wakes the run", async () => {
    api.wakesAs(() => {
      throw new Error("throttled by the secret engine");
    });
    const failed = await api.post(parked.path, approve());
    expect(failed).toMatchObject({ status: 500, body: { error: { code: "internal" } } });
    expect(failed.text).not.toContain("secret engine");
    expect((await api.get(parked.path)).body.status).toBe("approved");

    api.wakesAs(() => "woken");
    const again = await api.post(parked.path, approve());
    expect(again).toMatchObject({ status: 200, body: { resumed: true, decision: { by: "ann" } } });
  });
});

describe("a decision that comes second", () => {
  test.each([
    ["the opposite", { decision: "reject", by: "bob" }],
    ["the same by somebody else", { decision: "approve", by: "bob" }],
    ["the opposite by the same person", { decision: "reject", by: "ann" }],
  ])("%s is 409 with the decision that counts", async (_what, second) => {
    const first = await api.post(parked.path, approve());
    const { status, body } = await api.post(parked.path, second);

    expect(status).toBe(409);
    expect(body.decision).toEqual(first.body.decision);
    expect(body.error).toEqual({
      code: "already_decided",
      message: expect.stringMatching(/was approved by ann at 20.*: that decision counts/) as string,
    });
  });

  test("of fifty at once one is 200, and the others are 409 with the winner's decision", async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        api.post(parked.path, { decision: n % 2 === 0 ? "approve" : "reject", by: `reviewer-${n}` }),
      ),
    );

    const winners = answers.filter(({ status }) => status === 200);
    expect(winners).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body.decision)))).toEqual(
      new Set([JSON.stringify(winners[0]?.body.decision)]),
    );
  });

  test("a click after the end is recorded as expired, not as a yes, and says until when it was valid", async () => {
    const { expires_at } = (await api.get(parked.path)).body;
    api.clock.advance(dayMs + 1);
    const { status, body } = await api.post(parked.path, approve({ comment: "sorry, late" }));

    expect(status).toBe(409);
    expect(body.error).toEqual({
      code: "already_decided",
      message: `approval ${parked.approvalId} was valid until ${expires_at} and expired: nothing is sent on it`,
    });
    expect(body.decision).toMatchObject({ outcome: "expired", valid_until: expires_at });
    expect(body.decision).not.toHaveProperty("by");
    expect(body.decision).not.toHaveProperty("comment");
    expect(api.woken.at(-1)).toEqual({ taskToken: secretToken, error: "surefoot.expired" });
  });

  test("the last moment of its validity still counts", async () => {
    api.clock.advance(dayMs);

    expect((await api.post(parked.path, approve())).status).toBe(200);
  });

  test("after the run has ended it is 409 and leaves no step", async () => {
    const run = await api.log.readRun(parked.runId);
    if (run) await api.log.change(run, ["WAITING"], { status: "CANCELLED" });
    const before = await api.traces();
    const { status, body } = await api.post(parked.path, approve());

    expect(status).toBe(409);
    expect(body.error).toEqual({
      code: "run_ended",
      message: `approval ${parked.approvalId} belongs to a run that is CANCELLED: nothing was decided`,
    });
    expect(await api.traces()).toEqual(before);
  });
});
