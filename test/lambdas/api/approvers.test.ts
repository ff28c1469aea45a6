import { beforeAll, describe, expect, test } from "vitest";
import type { Agent } from "../../../shared/index.ts";
import { localTables } from "../../builders/local-tables.ts";
import { type ApiWorld, apiWorld, secretToken } from "../api-world.ts";
import { agents, byName, byRole, named, no, session, sso, twoOf, yes } from "./approver-agents.ts";

const tables = localTables();

let api: ApiWorld;
let tickets = 0;
beforeAll(() => {
  api = apiWorld(tables, agents);
});
const park = (agent: Agent, startedBy?: object) =>
  api.park(agent, `TICKET-${++tickets}`, { paymentId: "pi_1", amountCents: 6_000 }, startedBy as never);

describe("who may decide", () => {
  test("somebody without the role is refused with who may, and nothing is decided", async () => {
    const { path, approvalId } = await park(byRole);
    const before = await api.traces();
    const answer = await api.post(path, yes, sso("support", "eve"));

    expect(answer.status).toBe(403);
    expect(answer.body.error).toEqual({
      code: "not_an_approver",
      message: `approval ${approvalId} is decided by anybody with role AWSReservedSSO_finance_1, found ${named("support", "eve")}: ask one of them. Nothing was decided`,
    });
    expect(await api.traces()).toEqual(before);
    expect((await api.post(path, yes, sso("finance", "ann"))).status).toBe(200);
  });

  test("a name claimed in the body does not help where the API knows better", async () => {
    const { path } = await park(byName);
    expect((await api.post(path, { ...yes, by: "ann@example.com" }, sso("support", "eve"))).status).toBe(403);
  });

  test("one of the names may, however it is written", async () => {
    const { path } = await park(byName);
    const { status, body } = await api.post(path, { ...yes, by: "Ann@Example.com" });
    expect(status).toBe(200);
    expect(body.decision).toMatchObject({ outcome: "approved", by: "Ann@Example.com", known_by: "claimed" });
  });

  test("a no from somebody who may not decide is no no", async () => {
    const { path } = await park(byRole);
    expect((await api.post(path, no, sso("support", "eve"))).status).toBe(403);
    expect((await api.get(path)).body.status).toBe("pending");
  });

  test("is shown with the approval, and who started its run", async () => {
    const { path } = await park(twoOf, sso("support", "rita"));
    expect((await api.get(path)).body).toMatchObject({
      approvers: {
        quorum: 2,
        exclude_requester: true,
        in_words: "2 of anybody whom the API lets in; not whoever started the run",
      },
      requested_by: { by: named("support", "rita"), known_by: "iam" },
      votes: [],
      version: 1,
    });
  });
});

describe("two of three, without whoever asked", () => {
  const asked = () => park(twoOf, sso("support", "rita"));

  test("two different people decide, and everybody's word is kept", async () => {
    const { path } = await asked();
    const woken = api.woken.length;
    const first = await api.post(path, { ...yes, comment: "fine" }, sso("finance", "ann"));
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ status: "pending", quorum: 2, votes: [{ by: named("finance", "ann") }] });
    expect(first.body).not.toHaveProperty("decision");
    expect(api.woken).toHaveLength(woken);

    api.clock.advance(60_000);
    const second = await api.post(path, yes, sso("finance", "bo"));
    expect(second.status).toBe(200);
    expect(second.body.decision).toMatchObject({
      outcome: "approved",
      by: named("finance", "bo"),
      known_by: "iam",
      votes: [
        { by: named("finance", "ann"), known_by: "iam", comment: "fine", at: expect.any(String) as string },
        { by: named("finance", "bo"), known_by: "iam", at: expect.any(String) as string },
      ],
    });
    expect(api.woken.at(-1)).toEqual({ taskToken: secretToken });
  });

  test("the requester is refused, before and after others have said yes", async () => {
    const { path } = await asked();
    for (let n = 0; n < 2; n++) {
      const answer = await api.post(path, yes, sso("support", "rita"));
      expect(answer.status).toBe(403);
      expect(answer.body.error).toMatchObject({
        code: "requester_excluded",
        message: expect.stringMatching(/started the run of approval .*somebody else has to decide/) as string,
      });
      await api.post(path, yes, sso("finance", "ann"));
    }
    expect((await api.get(path)).body).toMatchObject({ status: "pending", votes: [{ by: named("finance", "ann") }] });
  });

  test("the same person twice counts once, and is told so each time", async () => {
    const { path } = await asked();
    for (let n = 0; n < 3; n++) {
      const { status, body } = await api.post(path, yes, sso("finance", "ann"));
      expect([status, body.status, body.votes.length]).toEqual([200, "pending", 1]);
    }
  });

  test("sessions of one role are one person, however they call themselves", async () => {
    const { path } = await asked();
    await api.post(path, yes, session("ann"));
    const { body } = await api.post(path, yes, session("bo"));
    expect(body).toMatchObject({
      status: "pending",
      votes: [{ by: expect.stringMatching(/deployer\/ann$/) as string }],
    });
  });

  test("one no is enough, also from somebody who has said yes", async () => {
    const { path } = await asked();
    await api.post(path, yes, sso("finance", "ann"));
    const { status, body } = await api.post(path, no, sso("finance", "ann"));
    expect(status).toBe(200);
    expect(body.decision).toMatchObject({ outcome: "rejected", by: named("finance", "ann"), comment: "too much" });
    expect((await api.post(path, yes, sso("finance", "bo"))).status).toBe(409);
    expect(api.woken.at(-1)).toEqual({ taskToken: secretToken, error: "surefoot.rejected" });
  });

  test("everybody of the quorum gets 200 for the same word again, and the run stays awake", async () => {
    const { path } = await asked();
    await api.post(path, yes, sso("finance", "ann"));
    await api.post(path, yes, sso("finance", "bo"));
    for (const user of ["ann", "bo"]) {
      const { status, body } = await api.post(path, yes, sso("finance", user));
      expect([status, body.decision.outcome, body.resumed]).toEqual([200, "approved", true]);
    }
    expect((await api.post(path, yes, sso("finance", "cleo"))).body.error.code).toBe("already_decided");
  });

  test("fifty at once, of both words and often twice: no vote is lost, and everybody hears the same", async () => {
    for (const share of [0, 5]) {
      const { path } = await asked();
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          api.post(path, share > 0 && n % share === 4 ? no : yes, sso("finance", `person-${n % 25}`)),
        ),
      );
      const { decision } = (await api.get(path)).body;
      expect(decision.outcome).toEqual(share === 0 ? "approved" : expect.stringMatching(/^(approved|rejected)$/));
      if (decision.outcome === "approved") {
        expect(decision.votes).toHaveLength(2);
        const people = (decision.votes as { by: string }[]).map(({ by }) => by);
        expect(new Set(people).size).toBe(2);
      }
      const told = answers.map(({ body }) => body.decision as unknown).filter((word) => word !== undefined);
      for (const word of told) expect(word).toEqual(decision);
      for (const { status, body } of answers) {
        // 200 is for a vote that is in the decision, or waits for it; anybody else hears the decision with 409.
        if (body.decision === undefined) expect([status, body.status]).toEqual([200, "pending"]);
        else expect(status).toBe(body.error === undefined ? 200 : 409);
      }
      expect(answers.filter(({ status }) => status === 409).length).toBeGreaterThan(30);
    }
  });

  test("a yes after the end is the expiry, whatever was said before", async () => {
    const { path } = await park(twoOf, sso("support", "rita"));
    await api.post(path, yes, sso("finance", "ann"));
    api.clock.advance(24 * 3_600_000 + 1);
    const late = await api.post(path, yes, sso("finance", "bo"));
    expect([late.status, late.body.decision.outcome]).toEqual([409, "expired"]);
  });

  test("a run that nobody is known to have started says how it can go on", async () => {
    const { path } = await park(twoOf);
    const answer = await api.post(path, yes, sso("finance", "ann"));
    expect(answer.status).toBe(409);
    expect(answer.body.error).toMatchObject({
      code: "requester_unknown",
      message: expect.stringMatching(/cancel it, and start the run again with `by`/) as string,
    });
  });
});
