import { beforeAll, describe, expect, test } from "vitest";
import { createWaitHandler } from "../../lambdas/wait/wait-handler.ts";
import { localTables } from "../builders/local-tables.ts";
import { ann, bob, cleo, type ReviewWorld, reviewWorld } from "./review-world.ts";

const tables = localTables();
let world: ReviewWorld;

beforeAll(() => {
  world = reviewWorld(tables);
});

/** The state waits, again: as after a retry, or in a new execution. */
const waitOf = (asked: Awaited<ReturnType<ReviewWorld["ask"]>>) =>
  createWaitHandler(world)({
    action: "ask",
    run_id: asked.runId,
    line: "review",
    execution: asked.execution,
    task_token: "token-of-a-retry",
  });

describe("a run that waits for people", () => {
  test("tells them, once however often the state is retried, and never its token", async () => {
    const asked = await world.ask();
    world.told.length = 0;
    await waitOf(asked);
    await waitOf(asked);

    expect(world.told.map(({ kind, approver }) => [kind, approver])).toEqual(
      [ann, bob, cleo].map((approver) => ["requested", approver]),
    );
    expect(JSON.stringify(world.told)).not.toContain("token-of-a-retry");
  });

  test("waits all the same where nobody can be told", async () => {
    const asked = await world.ask();
    world.channelFails(true);
    const answer = await waitOf(asked);
    world.channelFails(false);

    expect(answer).toEqual({ run_id: asked.runId });
    expect((await world.get(asked.path)).body.status).toBe("pending");
  });

  test("tells nobody where it was decided before it waits", async () => {
    const asked = await world.ask();
    await world.post(asked.path, { decision: "approve", by: ann });
    world.told.length = 0;
    await waitOf(asked);

    expect(world.told).toEqual([]);
  });
});
