import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bundleLambda, bundleLambdaSync } from "../../infra/bundle-lambda.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "surefoot-bundle-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const outdir = () => join(folder, "out");

async function load(file: string): Promise<{ handler: (event: unknown) => Promise<unknown> }> {
  return (await import(pathToFileURL(file).href)) as { handler: (event: unknown) => Promise<unknown> };
}

describe("bundleLambda", () => {
  it("gives the agents to the entry in the order they were named", async () => {
    const second = write("b.ts", `export default { name: "refund" as string };`);
    const first = write("a.ts", `export default { name: "triage" as string };`);
    const entry = write(
      "entry.ts",
      `import agents from "surefoot:agents"; export const handler = async () => agents.map((agent) => agent.name);`,
    );
    const { file } = await bundleLambda({ entry, agentModules: [second, first], outdir: outdir() });
    const { handler } = await load(file);
    expect(await handler({})).toEqual(["refund", "triage"]);
  });

  it("gives an empty list where there are no agents", async () => {
    const entry = write("entry.ts", `import agents from "surefoot:agents"; export const handler = async () => agents;`);
    const { file } = await bundleLambda({ entry, outdir: outdir() });
    expect(await (await load(file)).handler({})).toEqual([]);
  });

  it("gives an agent and the runtime the same copy of surefoot", async () => {
    const runtimes = join(import.meta.dirname, "../../shared/faults/faults.ts");
    const agent = write("a.ts", `import { OperationConflict } from "surefoot"; export default OperationConflict;`);
    const entry = write(
      "entry.ts",
      `import agents from "surefoot:agents"; import { OperationConflict } from ${JSON.stringify(runtimes)};
       export const handler = async () => agents[0] === OperationConflict;`,
    );
    const { file } = await bundleLambda({ entry, agentModules: [agent], outdir: outdir() });
    expect(await (await load(file)).handler({})).toBe(true);
  });

  it("keeps the names of functions and classes, which minifying would shorten", async () => {
    const entry = write(
      "entry.ts",
      `class PaymentDeclined extends Error {} export const handler = async () => PaymentDeclined.name;`,
    );
    const { file } = await bundleLambda({ entry, outdir: outdir() });
    expect(await (await load(file)).handler({})).toBe("PaymentDeclined");
  });

  it("lets a CommonJS dependency require what Node brings, and ask where it lies", async () => {
    write("node_modules/old/package.json", `{ "name": "old", "main": "index.js" }`);
    write(
      "node_modules/old/index.js",
      `const { sep } = require("path"); module.exports = () => [sep, typeof __dirname, typeof __filename];`,
    );
    const entry = write("entry.ts", `import old from "old"; export const handler = async () => old();`);
    const { file } = await bundleLambda({ entry, outdir: outdir() });
    expect(await (await load(file)).handler({})).toEqual(["/", "string", "string"]);
  });

  it("has the same digest for the same sources, wherever they lie, whatever the folder it is written to or run from", async () => {
    const project = (name: string) => {
      const agents = ["a", "b"].map((id) =>
        write(`${name}/agents/${id}.ts`, `import { z } from "./z.ts"; export default { name: z("${id}") };`),
      );
      write(`${name}/agents/z.ts`, `export const z = (name: string) => name.toUpperCase();`);
      const entry = write(
        `${name}/entry.ts`,
        `import agents from "surefoot:agents"; export const handler = async () => agents;`,
      );
      return { entry, agentModules: agents, outdir: join(folder, name, "out") };
    };
    const here = await bundleLambda(project("here"));
    const home = process.cwd();
    process.chdir(folder);
    const there = await bundleLambda(project("some/where/else")).finally(() => process.chdir(home));
    expect(there.sha256).toBe(here.sha256);
    expect(here.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it("has the same source map wherever it is written", async () => {
    const agent = write("a.ts", `export default { name: "refund" };`);
    const entry = write("entry.ts", `import agents from "surefoot:agents"; export const handler = async () => agents;`);
    await bundleLambda({ entry, agentModules: [agent], outdir: outdir() });
    await bundleLambda({ entry, agentModules: [agent], outdir: join(folder, "deeper", "still") });
    const map = readFileSync(join(outdir(), "index.mjs.map"), "utf8");
    expect(readFileSync(join(folder, "deeper", "still", "index.mjs.map"), "utf8")).toBe(map);
    expect(readFileSync(join(outdir(), "index.mjs"), "utf8")).toContain("sourceMappingURL=index.mjs.map");
  });

  it("builds the same without waiting, for constructors", async () => {
    const agent = write("a.ts", `export default { name: "refund" };`);
    const entry = write("entry.ts", `import agents from "surefoot:agents"; export const handler = async () => agents;`);
    const waited = await bundleLambda({ entry, agentModules: [agent], outdir: outdir() });
    const atOnce = bundleLambdaSync({ entry, agentModules: [agent], outdir: join(folder, "sync") });
    expect(atOnce).toMatchObject({ bytes: waited.bytes, sha256: waited.sha256 });
  });

  it("tells a fault in the agent's module as one line with its place, and no stack", async () => {
    const agent = write("agents/refund.ts", `import { nothing } from "./missing.ts";\nexport default nothing;\n`);
    const entry = write("entry.ts", `import agents from "surefoot:agents"; export const handler = agents;`);
    const fault: unknown = await bundleLambda({ entry, agentModules: [agent], outdir: outdir() }).catch(
      (e: unknown) => e,
    );
    expect(fault).toBeInstanceOf(Error);
    const { message } = fault as Error;
    expect(message).toMatch(/agents\/refund\.ts:1:25: Could not resolve "\.\/missing\.ts"/);
    expect(message.split("\n")).toHaveLength(1);
  });

  it("tells a syntax error the same way when it may not wait", () => {
    const entry = write("entry.ts", `export const handler = async () => {\n  return 1 +;\n};`);
    expect(() => bundleLambdaSync({ entry, outdir: outdir() })).toThrow(/entry\.ts:2:13: Unexpected ";"/);
  });

  it("tells an agent that imports the deployment side what it may import", async () => {
    const agent = write("a.ts", `import { app } from "surefoot/infra"; export default app;`);
    const entry = write("entry.ts", `import agents from "surefoot:agents"; export const handler = agents;`);
    await expect(bundleLambda({ entry, agentModules: [agent], outdir: outdir() })).rejects.toThrow(
      /a\.ts:1:21: "surefoot\/infra" does not run in a Lambda: an agent imports from "surefoot" only/,
    );
  });

  it("names the path that was asked for when an agent module is not there", async () => {
    const entry = write("entry.ts", `export const handler = 1;`);
    await expect(bundleLambda({ entry, agentModules: ["agents/refnd.ts"], outdir: outdir() })).rejects.toThrow(
      /agent module agents\/refnd\.ts was not found; expected a file at .*refnd\.ts/,
    );
  });

  it("refuses a bundle above the limit and names what makes it large", async () => {
    write("node_modules/huge/package.json", `{ "name": "huge", "main": "index.js" }`);
    write("node_modules/huge/index.js", `exports.text = ${JSON.stringify("x".repeat(5_300_000))};`);
    const entry = write("entry.ts", `import { text } from "huge"; export const handler = async () => text;`);
    await expect(bundleLambda({ entry, outdir: outdir() })).rejects.toThrow(
      /has 5\d{6} bytes, expected at most 5242880: .*largest inputs:\n {2}517\d KiB {2}huge/,
    );
  });
});
