import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { lockedAddresses, longFiles, machinePaths, unagreedFolders } from "./tooling/file-rules.ts";
import { importGraph, ownEntryNames } from "./tooling/import-graph.ts";
import { barrelFromInside, cycles, sdkOutsideAdapters, upwardArrows } from "./tooling/import-rules.ts";
import { readTexts, sourceFiles, trackedFiles } from "./tooling/source-files.ts";

const checkout = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

describe("this repository", () => {
  const tree = readTexts(checkout, sourceFiles(checkout));
  const code = new Map([...tree].filter(([path]) => /^(shared|lambdas|infra|test)\/.*\.ts$/.test(path)));
  const graph = importGraph(code, ownEntryNames(readFileSync(`${checkout}/package.json`, "utf8")));

  it("is read at all", () => {
    expect(graph.get("test/architecture.test.ts")).toContain("test/tooling/import-graph.ts");
    expect(tree.has("package-lock.json")).toBe(true);
  });

  it("imports one way: shared, then lambdas, then infra, then test", () => {
    expect(upwardArrows(graph)).toEqual([]);
  });

  it("has no import cycle", () => {
    expect(cycles(graph)).toEqual([]);
  });

  it("speaks to AWS from the adapters of shared only", () => {
    expect(sdkOutsideAdapters(graph)).toEqual([]);
  });

  it("never imports its public surface from inside shared", () => {
    expect(barrelFromInside(graph)).toEqual([]);
  });

  it("keeps to the agreed top-level folders", () => {
    expect(unagreedFolders(trackedFiles(checkout))).toEqual([]);
  });

  it("has no source file that outgrew one concept", () => {
    expect(longFiles(tree)).toEqual([]);
  });

  it("names no folder of a developer's machine", () => {
    expect(machinePaths(tree, checkout)).toEqual([]);
  });

  it("locks packages by content, not by download address", () => {
    expect(lockedAddresses(tree)).toEqual([]);
  });
});

describe("the import rules", () => {
  const graphOf = (files: Record<string, string>) =>
    importGraph(new Map(Object.entries(files)), new Map([["surefoot/infra", "infra/index.ts"]]));

  it.each([
    ["a static import", `import { run } from "../lambdas/run.ts";`],
    ["a bare import", `import "../lambdas/run.ts";`],
    ["a type import", `import type { Run } from "../lambdas/run.ts";`],
    ["a re-export", `export * from "../lambdas/run.ts";`],
    ["a dynamic import", `const late = async () => import("../lambdas/run.ts");`],
    ["an import inside a type", `export type Run = import("../lambdas/run.ts").Run;`],
    ["an import after a quote in a regular expression", `const quote = /"/; import { run } from "../lambdas/run.ts";`],
  ])("see an upward arrow in %s", (_form, text) => {
    expect(upwardArrows(graphOf({ "shared/agent.ts": text }))).toEqual(["shared/agent.ts imports lambdas/run.ts"]);
  });

  it("see an upward arrow through the package's own name", () => {
    const graph = graphOf({ "lambdas/agents/refund.ts": `import { DurableAgent } from "surefoot/infra";` });
    expect(upwardArrows(graph)).toEqual(["lambdas/agents/refund.ts imports infra/index.ts"]);
  });

  it("let an arrow point down, and text that only looks like an import be", () => {
    const graph = graphOf({
      "infra/app.ts": `import { run } from "../lambdas/run.ts"; import { z } from "zod";`,
      "lambdas/run.ts": `import { agent } from "../shared/agent.ts";`,
      "shared/agent.ts": `// import "../infra/app.ts"\nexport const agent = 'import "../infra/app.ts"';`,
    });
    expect([...upwardArrows(graph), ...cycles(graph)]).toEqual([]);
  });

  it("see a cycle across three files and name its way", () => {
    const graph = graphOf({
      "shared/a.ts": `import "./ledger/b.ts";`,
      "shared/ledger/b.ts": `import type { C } from "../c.ts";`,
      "shared/c.ts": `export * from "./a.ts";`,
    });
    expect(cycles(graph)).toEqual(["shared/a.ts → shared/ledger/b.ts → shared/c.ts → shared/a.ts"]);
  });

  it("do not take a file reached on two ways for a cycle", () => {
    const graph = graphOf({
      "shared/a.ts": `import "./b.ts"; import "./c.ts";`,
      "shared/b.ts": `import "./c.ts";`,
      "shared/c.ts": "",
    });
    expect(cycles(graph)).toEqual([]);
  });

  it("let only adapters of shared touch the AWS SDK", () => {
    const text = `import { DynamoDBClient } from "@aws-sdk/client-dynamodb";`;
    const graph = graphOf({
      "shared/ledger/ledger-store.ts": text,
      "shared/ledger/dynamo-ledger-store.ts": text,
      "lambdas/entry/step.ts": text,
    });
    expect(sdkOutsideAdapters(graph)).toEqual(["shared/ledger/ledger-store.ts imports @aws-sdk/client-dynamodb"]);
  });

  it("refuse the barrel inside shared and allow it outside", () => {
    const graph = graphOf({
      "shared/agent/node.ts": `import { z } from "../index.ts";`,
      "lambdas/run.ts": `import { z } from "../shared/index.ts";`,
    });
    expect(barrelFromInside(graph)).toEqual(["shared/agent/node.ts imports shared/index.ts"]);
  });
});

describe("the file rules", () => {
  it("report a folder nobody agreed on, but neither a dotted one nor a file at the top", () => {
    expect(unagreedFolders(["docs/a.md", "shared/a.ts", ".ci/run", "README.md", "docs/b.md"])).toEqual(["docs"]);
  });

  it("report a source file from its 351st line on, with its size", () => {
    const tree = new Map([
      ["shared/fits.ts", "x;\n".repeat(350)],
      ["infra/long.ts", "x;\n".repeat(351)],
      ["test/long.test.ts", "x;\n".repeat(900)],
    ]);
    expect(longFiles(tree)).toEqual(["351  infra/long.ts"]);
  });

  it.each([
    ["/home", "ada", "notes"].join("/"),
    ["/Users", "ada", "notes"].join("/"),
    ["", "root", ".npmrc"].join("/"),
  ])("report the machine's path %s with its place", (path) => {
    const tree = new Map([["README.md", `A page.\nSee ${path}.\n`]]);
    expect(machinePaths(tree, "/somewhere/else")).toEqual([`README.md:2  See ${path}.`]);
  });

  it("report the checkout's own place unless it is too plain to mean one machine", () => {
    const tree = new Map([["infra/app.ts", `const folder = "/srv/ada/out";`]]);
    expect(machinePaths(tree, "/srv/ada")).toHaveLength(1);
    expect(machinePaths(tree, "/srv")).toEqual([]);
  });

  it("leave an address on the web alone", () => {
    const tree = new Map([["README.md", ["https://example.com", "home", "ada", "page"].join("/")]]);
    expect(machinePaths(tree, "/somewhere/else")).toEqual([]);
  });

  it("report a lock file that names a download address", () => {
    const tree = new Map([["package-lock.json", `{\n  "resolved": "https://registry.example/zod.tgz"\n}`]]);
    expect(lockedAddresses(tree)).toEqual(["package-lock.json:2"]);
  });
});
