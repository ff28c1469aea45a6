import { describe, expect, it } from "vitest";
import { reviewLinks } from "../../../shared/link/review-links.ts";
import type { Channel, Notices } from "../../../shared/notify/channel.ts";
import { dynamoNoticeLog } from "../../../shared/notify/dynamo-notice-log.ts";
import type { Notice } from "../../../shared/notify/notice.ts";
import { sweep } from "../../../shared/sweep/sweep.ts";
import { localTables } from "../../builders/local-tables.ts";
import { onlyOf, type SweepWorld, sweepWorld } from "../../builders/sweep-world.ts";

const tables = localTables();
const hourMs = 3_600_000;

/** A run that waits for an approval that is valid for a day, and the sweep with somebody to tell. */
async function waiting() {
  const world: SweepWorld = await sweepWorld(tables, { approval: true });
  await world.go();
  const told: Notice[] = [];
  let fails = false;
  const channel: Channel = {
    name: "recorded",
    audience: () => [undefined],
    send: async (notice) => {
      if (fails) throw new Error("refused");
      told.push(notice);
    },
  };
  const ring = async () => ({ current: "k", keys: new Map([["k", Buffer.alloc(32)]]) });
  const notices: Notices = {
    channels: [channel],
    links: reviewLinks("https://agents.example.com", { current: ring, holding: ring }),
    approvers: new Map(),
    log: dynamoNoticeLog(tables.client(), "runs"),
  };
  return {
    world,
    kinds: () => told.map(({ kind }) => kind),
    fail: (now: boolean) => (fails = now),
    sweep: () =>
      sweep(
        { pageMax: 25, deadlineMs: world.clock.nowMs() + 600_000 },
        { ...onlyOf(world.runId, world.ports), notices },
      ),
  };
}

describe("the sweep", () => {
  it("tells what whoever asked could not, once, and not before they had the time", async () => {
    const { world, kinds, sweep: run } = await waiting();
    await run();
    expect(kinds()).toEqual([]);
    world.clock.advance(60_000);
    expect((await run()).deeds).toMatchObject({ told: 1 });
    await run();
    expect(kinds()).toEqual(["requested"]);
  });

  it("reminds at half of the time and escalates at four fifths, once each, and says the newest matter alone", async () => {
    const { world, kinds, sweep: run } = await waiting();
    world.clock.advance(12 * hourMs);
    await run();
    await run();
    world.clock.advance(8 * hourMs);
    await run();
    await run();
    expect(kinds()).toEqual(["reminder", "escalation"]);
  });

  it("tries again what failed, and the failure stops nothing else", async () => {
    const { world, kinds, fail, sweep: run } = await waiting();
    world.clock.advance(12 * hourMs);
    fail(true);
    expect(await run()).toMatchObject({ errors: 0, finished: true });
    fail(false);
    await run();
    expect(kinds()).toEqual(["reminder"]);
  });

  it("tells nobody of an approval that is decided or over", async () => {
    const { world, kinds, sweep: run } = await waiting();
    world.clock.advance(25 * hourMs);
    expect((await run()).deeds).toMatchObject({ expired: 1 });
    await world.go();
    await run();
    expect(kinds()).toEqual([]);
  });
});
