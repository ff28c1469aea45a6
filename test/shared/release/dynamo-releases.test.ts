import { describe, expect, it } from "vitest";
import { dynamoReleases } from "../../../shared/release/dynamo-releases.ts";
import { liveRelease, retirementIn, versionsOf } from "../../../shared/release/live-release.ts";
import type { Release } from "../../../shared/release/release.ts";
import { releaseOf } from "../../../shared/release/live-release.ts";
import { localTables } from "../../builders/local-tables.ts";

const tables = localTables();
const aRelease = (agent: string, version: number, day: number, over: Partial<Release> = {}): Release => ({
  agent,
  workflow_version: version,
  contract_digest: "c".repeat(64),
  state_machine_arn: `arn:aws:states:us-east-1:000000000000:stateMachine:${agent}:${day}`,
  released_at: `2026-09-${String(day).padStart(2, "0")}T00:00:00.000Z`,
  ...over,
});
const why = { at: "2026-09-20T00:00:00.000Z", by: "kim", reason: "leaks addresses" };

describe("releases", () => {
  it("are listed by agent, newest version first, and of one version the newest release first", async () => {
    const releases = dynamoReleases(tables.client(), "runs");
    for (const [version, day] of [
      [9, 1],
      [10, 3],
      [10, 2],
      [2, 4],
    ] as const) {
      await releases.keep(aRelease("listed", version, day));
    }
    await releases.keep(aRelease("listed-too", 1, 5));
    const listed = await releases.list("listed");
    expect(listed.map((each) => [each.workflow_version, each.released_at.slice(8, 10)])).toEqual([
      [10, "03"],
      [10, "02"],
      [9, "01"],
      [2, "04"],
    ]);
    expect(versionsOf(listed)).toEqual([10, 9, 2]);
    expect(releaseOf(listed, 10)?.released_at).toBe("2026-09-03T00:00:00.000Z");
    expect(await releases.list("nobody")).toEqual([]);
  });

  it("stay as they were first kept, and retired as they were first retired", async () => {
    const releases = dynamoReleases(tables.client(), "runs");
    const first = aRelease("kept", 1, 1);
    await releases.keep(first);
    await releases.keep({ ...first, released_at: "2026-09-09T00:00:00.000Z" });
    expect(await releases.list("kept")).toEqual([first]);

    expect(await releases.retire("kept", 1, why)).toBe(true);
    expect(await releases.retire("kept", 1, { ...why, by: "lee" })).toBe(true);
    await releases.keep(first);
    expect(await releases.list("kept")).toEqual([{ ...first, retired: why }]);
    expect(await releases.retire("kept", 2, why)).toBe(false);
  });

  it("are live where they were deployed last, and retired with all of their version", () => {
    const [v8, v7] = [aRelease("live", 8, 1), aRelease("live", 7, 2, { retired: why })];
    expect(liveRelease([v8, v7])).toBe(v7);
    expect(liveRelease([aRelease("live", 8, 2), v7])?.workflow_version).toBe(8);
    expect(liveRelease([])).toBeUndefined();
    expect(retirementIn([aRelease("live", 7, 9), v7], 7)).toEqual(why);
    expect(retirementIn([v8, v7], 8)).toBeUndefined();
  });
});
