import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { localTables } from "../../builders/local-tables.ts";
import { ann, bob, cleo, type ReviewWorld, reviewWorld, visit } from "../review-world.ts";

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

async function remind(body: unknown = { by: "dan" }, path = asked.path) {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const { status, text } = await visit(world.apps.decide, `${path}/remind`, init);
  return { status, body: JSON.parse(text) };
}

describe("a reminder on request", () => {
  test("tells everybody who may decide, again and again, each time anew", async () => {
    expect(await remind()).toEqual({
      status: 200,
      body: { approval_id: asked.approvalId, sent: ["recorded"], failed: [] },
    });
    world.clock.advance(1_000);
    await remind();

    expect(world.told.map(({ kind, approver }) => [kind, approver])).toEqual(
      [ann, bob, cleo, ann, bob, cleo].map((approver) => ["reminder", approver]),
    );
    expect(new Set(world.told.map(({ notice_id }) => notice_id)).size).toBe(6);
  });

  test("says which channel failed, and never its words", async () => {
    world.channelFails(true);
    const answer = await remind();
    world.channelFails(false);

    expect(answer).toMatchObject({ status: 502, body: { failed: ["recorded"], error: { code: "not_told" } } });
    expect(JSON.stringify([answer, world.logger.lines])).not.toContain("/review/k1.");
  });

  test("leaves the other verbs of an approval alone", async () => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify({ by: "dan", comment: "not needed" }) };
    const { status, text } = await visit(world.apps.decide, `${asked.path}/cancel`, init);

    expect({ status, body: JSON.parse(text) }).toMatchObject({
      status: 200,
      body: { status: "cancelled", changed: true },
    });
  });

  test("is refused where nothing waits", async () => {
    await world.post(asked.path, { decision: "approve", by: ann });

    expect(await remind()).toMatchObject({ status: 409, body: { error: { code: "not_pending" } } });
    expect(await remind({ by: "dan" }, "/approvals/run-1:0000.review")).toMatchObject({ status: 404 });
    expect(await remind({})).toMatchObject({ status: 400, body: { error: { code: "decider_missing" } } });
    expect(await remind({ by: "dan", loudly: true })).toMatchObject({ status: 400 });
    expect(world.told).toEqual([]);
  });
});
