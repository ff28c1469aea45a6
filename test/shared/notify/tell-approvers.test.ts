import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Channel } from "../../../shared/notify/channel.ts";
import { type Notice } from "../../../shared/notify/notice.ts";
import { dueNotice, tellGraceMs } from "../../../shared/notify/notice-times.ts";
import { tellApprovers } from "../../../shared/notify/tell-approvers.ts";
import { localTables } from "../../builders/local-tables.ts";
import { ann, bob, cleo, type ReviewWorld, reviewWorld } from "../../lambdas/review-world.ts";

const tables = localTables();
let world: ReviewWorld;
let asked: Awaited<ReturnType<ReviewWorld["ask"]>>;

beforeAll(() => {
  world = reviewWorld(tables);
});
beforeEach(async () => {
  asked = await world.ask();
  world.told.length = 0;
});

/** A channel that does as it is told, and remembers. */
function channel(name: string, send: (notice: Notice, signal: AbortSignal) => Promise<void> = async () => undefined) {
  const sent: Notice[] = [];
  const made: Channel = {
    name,
    audience: () => [undefined],
    send: async (notice, signal) => {
      await send(notice, signal);
      sent.push(notice);
    },
  };
  return { ...made, sent };
}
const tellBy = (channels: readonly Channel[], waiter = asked.waiter) =>
  tellApprovers(waiter, "requested", { ...world, notices: { ...world.notices, channels } });

describe("who is told", () => {
  it("is everybody whom approval or deployment names and the rule lets decide, each by a link of their own", async () => {
    await world.tell(asked.approvalId, "requested");

    expect(world.told.map(({ approver }) => approver)).toEqual([ann, bob, cleo]);
    expect(new Set(world.told.map(({ link }) => link)).size).toBe(3);
    expect(world.told[0]).toMatchObject({
      kind: "requested",
      approval_id: asked.approvalId,
      agent: "review-by-one",
      risk: "high",
      title: `Pay ${asked.order}`,
      link: expect.stringMatching(/^https:\/\/agents\.example\.com\/review\/k1\./u) as string,
    });
  });

  it("is nobody who has been heard already", async () => {
    const two = await world.ask("two");
    await world.post(two.path, { decision: "approve", by: ann.toUpperCase() });
    await world.tell(two.approvalId, "reminder");

    expect(world.told.map(({ approver }) => approver)).toEqual([bob, cleo]);
  });

  it("is everybody at once, by a page that asks who comes, where nobody may be named", async () => {
    // Whoever started the run may not decide, and nobody knows who that was.
    const other = await world.ask("other");
    await world.tell(other.approvalId, "requested");

    expect(world.told).toHaveLength(1);
    expect(world.told[0]).not.toHaveProperty("approver");
    expect(world.told[0]?.link).toBe(`https://agents.example.com/approvals/${encodeURIComponent(other.approvalId)}`);
  });
});

describe("telling people", () => {
  it("is done once per channel and matter, and repeated under the same number until it is done", async () => {
    const steady = channel("steady");
    let fails = true;
    const shaky = channel("shaky", async () => {
      if (fails) throw new Error("refused");
    });
    expect(await tellBy([steady, shaky])).toEqual({ sent: ["steady"], failed: ["shaky"] });
    expect(await tellBy([steady, shaky])).toEqual({ sent: [], failed: ["shaky"] });
    fails = false;
    expect(await tellBy([steady, shaky])).toEqual({ sent: ["shaky"], failed: [] });
    expect(await tellBy([steady, shaky])).toEqual({ sent: [], failed: [] });

    expect([steady.sent.length, shaky.sent.length]).toEqual([1, 1]);
    expect(shaky.sent[0]?.notice_id).toBe(steady.sent[0]?.notice_id);
  });

  it("counts and logs what failed, and never the words of the failure", async () => {
    const before = world.metrics.total("approval_notice_failed_total");
    const lines = world.logger.lines.length;
    await tellBy([channel("shaky", () => Promise.reject(new Error("https://hooks.example/secret refused")))]);

    expect(world.metrics.total("approval_notice_failed_total")).toBe(before + 1);
    expect(world.logger.lines.slice(lines)).toMatchObject([
      { level: "error", fields: { run_id: asked.runId, channel: "shaky", code: "Error" } },
    ]);
    expect(JSON.stringify(world.logger.lines)).not.toContain("hooks.example");
  });

  it("never waits longer than seconds for a channel, and tells the others meanwhile", async () => {
    let aborted = false;
    const stuck = channel("stuck", (_notice, signal) => {
      signal.addEventListener("abort", () => (aborted = true));
      return new Promise(() => undefined);
    });
    let told = () => {};
    const steadyIsTold = new Promise<void>((resolve) => (told = resolve));
    const steady = channel("steady", async () => told());
    const telling = tellBy([stuck, steady]);
    await Promise.all([world.clock.timerOf(4_000), steadyIsTold]);
    await new Promise((settled) => setImmediate(settled)); // what follows from it, before time moves
    world.clock.advance(4_000);
    world.clock.advance(250);

    expect(await telling).toEqual({ sent: ["steady"], failed: ["stuck"] });
    expect(aborted).toBe(true);
  });

  it("never throws, whatever is broken", async () => {
    const broken = { ...asked.waiter, subject: { json: "{}" } };
    expect(await tellBy([channel("steady")], broken)).toEqual({ sent: [], failed: ["steady"] });
    world.keysFail(true);
    const report = await world.tell(asked.approvalId, "requested");
    world.keysFail(false);
    expect(report).toEqual({ sent: [], failed: ["recorded"] });
  });
});

describe("when people are told", () => {
  const requested = Date.UTC(2026, 8, 2, 12);
  const waiter = {
    requested_at: new Date(requested).toISOString(),
    expires_at: new Date(requested + 100_000_000).toISOString(),
  };

  it.each([
    [0, undefined],
    [tellGraceMs - 1, undefined],
    [tellGraceMs, "requested"],
    [49_999_999, "requested"],
    [50_000_000, "reminder"],
    [79_999_999, "reminder"],
    [80_000_000, "escalation"],
    [100_000_000, "escalation"],
  ])("%d ms of 100,000,000 after asking it is %s", (ms, kind) => {
    expect(dueNotice(waiter, requested + ms)).toBe(kind);
  });
});
