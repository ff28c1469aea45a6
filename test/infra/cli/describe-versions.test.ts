import { describe, expect, test } from "vitest";
import { describeRetired, describeVersions } from "../../../infra/cli/describe-versions.ts";
import type { Version } from "../../../infra/cli/release-shapes.ts";

const version = (workflow_version: number, over: Partial<Version> = {}): Version => ({
  workflow_version,
  live: false,
  open_runs: { total: 0, by_status: {}, examples: [] },
  releases: [{ released_at: `2026-09-0${workflow_version}T12:00:00.000Z` }],
  ...over,
});
const retired = { at: "2026-09-09T12:00:00.000Z", by: "kim", reason: "leaks addresses" };

describe("the versions of an agent", () => {
  test("are a table, and below it which of them nobody needs any more", () => {
    const text = describeVersions({
      agents: [
        {
          agent: "shop",
          live_version: 4,
          versions: [
            version(4, { live: true }),
            version(3, { open_runs: { total: 3, by_status: { WAITING: 2, PARKED: 1 }, examples: ["run-a", "run-b"] } }),
            version(2, { retired, open_runs: { total: 1, by_status: { WAITING: 1 }, examples: ["run-c"] } }),
            version(1),
          ],
        },
      ],
    });
    expect(text.split("\n")).toEqual([
      "AGENT  VERSION  STATE    RELEASED             OPEN RUNS                OLDEST",
      "shop   4        live     2026-09-04 12:00:00  0                        -",
      "shop   3        kept     2026-09-03 12:00:00  3 (2 WAITING, 1 PARKED)  run-a",
      "shop   2        retired  2026-09-02 12:00:00  1 (1 WAITING)            run-c",
      "shop   1        kept     2026-09-01 12:00:00  0                        -",
      "",
      "shop version 4 is live: new runs start on it.",
      "shop version 3 is still needed: 3 runs end on it.",
      "shop version 2 was retired by kim (leaks addresses): 1 run stopped there. surefoot resume <run> --version <n>, fork or cancel moves them on.",
      "shop version 1 is not needed any more: no run is open on it.",
    ]);
  });

  test("that were never registered are said, not shown as an empty table", () => {
    expect(describeVersions({ agents: [{ agent: "shop", versions: [] }] })).toBe(
      "no releases: a deployment registers what it runs",
    );
  });
});

describe("a version that was retired", () => {
  const answer = {
    agent: "shop",
    workflow_version: 2,
    retired,
    changed: true,
    runs: { marked: 1, marked_before: 0, left: 0, examples: ["run-c"] },
    next: ["surefoot cancel <run>: it ends here"],
  };

  test("is told with its runs and what can be done with them", () => {
    expect(describeRetired(answer).split("\n")).toEqual([
      "shop version 2 is retired: none of its runs goes on by itself",
      "open runs marked: 1",
      "  run-c",
      "surefoot cancel <run>: it ends here",
    ]);
  });

  test("before is told with the word that counts", () => {
    const runs = { marked: 1, marked_before: 2, left: 3, examples: [] };
    expect(describeRetired({ ...answer, changed: false, runs, next: [] }).split("\n")).toEqual([
      "shop version 2 was retired by kim at 2026-09-09T12:00:00.000Z (leaks addresses)",
      "open runs marked: 1, 2 before, 3 are left to the sweep",
    ]);
  });
});
