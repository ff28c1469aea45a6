import { beforeAll, describe, expect, test } from "vitest";
import type { Agent } from "../../../shared/index.ts";
import { localTables } from "../../builders/local-tables.ts";
import { type ApiWorld, apiWorld, secretToken } from "../api-world.ts";
import { agents, byName, named, no, sso, twoOf, yes } from "./approver-agents.ts";

const tables = localTables();
let api: ApiWorld;
let tickets = 0;
beforeAll(() => {
  api = apiWorld(tables, agents);
});
const park = (agent: Agent, startedBy?: object) =>
  api.park(agent, `TICKET-${++tickets}`, { paymentId: "pi_1", amountCents: 6_000 }, startedBy as never);

describe("a question withdrawn over HTTP", () => {
  test("wakes the run, is 200 again, and takes no decision any more", async () => {
    const { path } = await park(twoOf, sso("support", "rita"));
    const cancel = (over: object = {}) =>
      api.post(`${path}/cancel`, { comment: "by mistake", ...over }, sso("support", "rita"));
    const first = await cancel();
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({
      status: "cancelled",
      changed: true,
      decision: { by: named("support", "rita"), known_by: "iam", comment: "by mistake" },
    });
    expect(api.woken.at(-1)).toEqual({ taskToken: secretToken, error: "surefoot.expired" });
    expect((await cancel()).body).toMatchObject({ changed: false, wake: "told_before" });
    expect((await api.post(path, yes, sso("finance", "ann"))).body.error).toMatchObject({
      code: "already_decided",
      message: expect.stringMatching(/was cancelled by .*rita at/) as string,
    });
    expect((await api.get(path)).body.status).toBe("cancelled");
  });

  test("is refused for what it does not know, and once it was decided", async () => {
    const { path } = await park(byName);
    expect((await api.post(`${path}/cancel`, { force: true, by: "ann@example.com" })).body.error.code).toBe(
      "invalid_request",
    );
    await api.post(path, { ...yes, by: "ann@example.com" });
    const late = await api.post(`${path}/cancel`, { by: "bo@example.com" });
    expect([late.status, late.body.error.code]).toEqual([409, "already_decided"]);
  });
});

describe("a page that was opened before its approval was superseded", () => {
  test("is refused with why, and so is whoever names another version", async () => {
    const parked = await park(byName);
    const wrong = await api.post(parked.path, { ...yes, by: "ann@example.com", expected_version: 2 });
    expect([wrong.status, wrong.body.error.code]).toEqual([409, "version_changed"]);
    expect(wrong.body.error.facts).toEqual({ version: 1 });

    const position = parked.path.split(":")[1] ?? "";
    await api.log.supersede(
      { run_id: parked.runId, position },
      { reason: "digest_changed", at: "2026-09-02T12:00:00.000Z" },
    );
    for (const body of [{ ...yes, expected_version: 1 }, yes, no]) {
      const { status, body: said } = await api.post(parked.path, { ...body, by: "ann@example.com" });
      expect(status).toBe(409);
      expect(said.error).toMatchObject({
        code: "superseded",
        facts: { reason: "digest_changed", version: 2 },
        message: expect.stringMatching(
          /counts no more \(digest_changed\).*surefoot trace .*surefoot approvals what is asked now/,
        ) as string,
      });
    }
    expect((await api.get(parked.path)).body).toMatchObject({
      status: "superseded",
      version: 2,
      superseded: { reason: "digest_changed" },
    });
  });
});

describe("the listing", () => {
  const ids = ({ body }: { body: { approvals: { approval_id: string }[] } }) =>
    body.approvals.map(({ approval_id }) => approval_id);

  test("finds by status, agent, age and approver", async () => {
    const old = await park(byName, sso("support", "rita"));
    api.clock.advance(3 * 3_600_000);
    const young = await park(byName);
    const other = await park(twoOf, sso("support", "rita"));
    const cut = new Date(api.clock.nowMs() - 3_600_000).toISOString();
    const pending = ids(await api.get("/approvals?agent=by-name"));
    expect(pending).toContain(old.approvalId);
    expect(pending).toContain(young.approvalId);
    expect(pending).not.toContain(other.approvalId);
    const older = ids(await api.get(`/approvals?agent=by-name&requested_before=${cut}`));
    expect([older.includes(old.approvalId), older.includes(young.approvalId)]).toEqual([true, false]);

    const forAnn = ids(await api.get("/approvals?approver=ann@example.com"));
    expect([young, other].map(({ approvalId }) => forAnn.includes(approvalId))).toEqual([true, true]);
    const forRita = ids(await api.get(`/approvals?approver=${encodeURIComponent(named("support", "rita"))}`));
    expect([young, other].map(({ approvalId }) => forRita.includes(approvalId))).toEqual([false, false]);

    await api.post(young.path, { ...no, by: "ann@example.com" });
    const rejected = await api.get("/approvals?status=rejected&agent=by-name&approver=Ann@example.com");
    expect(ids(rejected)[0]).toBe(young.approvalId);
    expect(rejected.body.approvals[0]).toMatchObject({ status: "rejected", decision: { comment: "too much" } });
    expect(ids(await api.get("/approvals?status=pending&agent=by-name"))).not.toContain(young.approvalId);
  });

  test("a vote takes it off the voter's own list, and not off the others'", async () => {
    const { path, approvalId } = await park(twoOf, sso("support", "rita"));
    await api.post(path, yes, sso("finance", "ann"));
    const list = async (user: string) =>
      ids(await api.get(`/approvals?approver=${encodeURIComponent(named("finance", user))}`)).includes(approvalId);
    expect([await list("ann"), await list("bo")]).toEqual([false, true]);
  });

  test("says when it left some out, and refuses words it does not know", async () => {
    await park(byName);
    await park(byName);
    const { body } = await api.get("/approvals?limit=1");
    expect([body.approvals.length, body.more]).toEqual([1, true]);
    for (const query of ["status=open", "limit=0", "requested_before=yesterday", "color=red"]) {
      expect((await api.get(`/approvals?${query}`)).body.error.code).toBe("invalid_request");
    }
  });

  test("a listing of runs does not show approvals, whatever it is asked for", async () => {
    await park(byName);
    const { status, body } = await api.get(`/runs?agent=${encodeURIComponent("approval#by-name")}`);
    expect([status, body.error.code]).toEqual([404, "unknown_agent"]);
  });

  test("an approval of a run that was cancelled is not pending", async () => {
    const { path, runId } = await park(byName);
    const run = await api.log.readRun(runId);
    const waiter = (await api.log.read(runId))?.waiters[0];
    if (run) await api.log.change(run, ["WAITING"], { status: "CANCELLED" });
    if (waiter) await api.log.closeWaiter(waiter, "2026-09-02T12:00:00.000Z");
    expect((await api.get(path)).body.status).toBe("cancelled");
  });
});
