import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";

/** The lowest Node that a user may run. Raising it is a breaking release. */
const floor = "20.19.0";

interface LockedPackage {
  readonly engines?: { readonly node?: string } | readonly string[];
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

interface SemVer {
  satisfies(version: string, range: string): boolean;
}

/** Resolved from a declared dependency that declares it in turn, so that it does not depend on what npm hoists. */
const fromLintPlugin = createRequire(createRequire(import.meta.url).resolve("eslint-plugin-import-x/package.json"));
const semver = fromLintPlugin("semver") as SemVer;

const readJson = (name: string): unknown => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8"));

/** `path needs range` of every package a user installs whose range leaves `version` out. */
function packagesRefusing(version: string, packages: Readonly<Record<string, LockedPackage>>): string[] {
  return Object.entries(packages).flatMap(([path, { engines, dev, optional, devOptional }]) => {
    const reachesUsers = path !== "" && !dev && !optional && !devOptional;
    const range = engines && "node" in engines ? engines.node : undefined;
    return reachesUsers && range && !semver.satisfies(version, range) ? [`${path} needs ${range}`] : [];
  });
}

describe("the Node floor", () => {
  const { packages } = readJson("package-lock.json") as { packages: Record<string, LockedPackage> };
  const manifest = readJson("package.json") as { engines: { node: string } };

  it("is accepted by every package a user installs", () => {
    expect(Object.keys(packages).length).toBeGreaterThan(50);
    expect(packagesRefusing(floor, packages)).toEqual([]);
  });

  it("is what package.json promises, with no ceiling and nothing older", () => {
    expect(semver.satisfies(floor, manifest.engines.node)).toBe(true);
    expect(semver.satisfies("24.0.0", manifest.engines.node)).toBe(true);
    expect(semver.satisfies("18.20.8", manifest.engines.node)).toBe(false);
  });

  it("would notice a package that moved on, and leaves tools and optional ones alone", () => {
    const moved = { engines: { node: ">=22" } };
    const refusing = packagesRefusing(floor, {
      "": moved,
      "node_modules/moved": moved,
      "node_modules/tool": { ...moved, dev: true },
      "node_modules/extra": { ...moved, optional: true },
      "node_modules/silent": {},
      "node_modules/old-style": { engines: ["node >= 0.8"] },
    });
    expect(refusing).toEqual(["node_modules/moved needs >=22"]);
  });
});
