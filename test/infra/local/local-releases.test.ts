import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { keepLocalRelease, readLocalReleases } from "../../../infra/local/local-releases.ts";
import { compileAgent } from "../../../shared/index.ts";
import { released } from "../../e2e/agents/released.ts";

describe("releases on this machine", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "surefoot-releases-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const at = "2026-09-02T12:00:00.000Z";
  const keep = (version: number, code: string) => {
    const bundle = join(folder, "bundle");
    mkdirSync(bundle, { recursive: true });
    writeFileSync(join(bundle, "index.mjs"), code);
    const made = { file: join(bundle, "index.mjs"), sha256: code };
    return keepLocalRelease(folder, compileAgent(released(version)), made, at);
  };

  it("are one where code and states are the same, and another where either differs", () => {
    expect([keep(7, "a"), keep(7, "a"), keep(7, "b"), keep(8, "b"), keep(7, "a")].map(({ number }) => number)).toEqual([
      1, 1, 2, 3, 4,
    ]);
    expect(readLocalReleases(folder, "released").map((release) => [release.number, release.workflow_version])).toEqual([
      [4, 7],
      [3, 8],
      [2, 7],
      [1, 7],
    ]);
  });

  it("keep the code they were made with", () => {
    const { bundleFile } = keep(7, "a");
    keep(7, "b");
    expect(readFileSync(bundleFile, "utf8")).toBe("a");
  });

  it("never give the number of a deleted one to another", () => {
    keep(7, "a");
    rmSync(join(folder, "releases", "released", "1"), { recursive: true });
    expect(keep(8, "b").number).toBe(2);
  });

  it("are not there while they are only half written", () => {
    keep(7, "a");
    mkdirSync(join(folder, "releases", "released", "draft-x"));
    expect(readLocalReleases(folder, "released")).toHaveLength(1);
  });
});
