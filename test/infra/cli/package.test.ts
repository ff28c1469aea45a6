import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiClient } from "../../../infra/cli/api-client.ts";
import { actionsOf } from "../../e2e/stage.ts";
import { serving, surefoot } from "./command.ts";

/** A build, and everything started from it, on a machine that is busy with other suites. */
const slowMs = 240_000;
const checkout = fileURLToPath(new URL("../../../", import.meta.url));
const manifest = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as {
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, { readonly types: string; readonly default: string }>>;
};
const run = promisify(execFile);

/** The package as a user has it: its manifest, what is built, and the dependencies beside it. No TypeScript source. */
let installed: string;
beforeAll(async () => {
  installed = realpathSync(mkdtempSync(join(tmpdir(), "surefoot-package-")));
  writeFileSync(join(installed, "package.json"), JSON.stringify(manifest));
  symlinkSync(join(checkout, "node_modules"), join(installed, "node_modules"));
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  // The same JavaScript as `npm run build`; types are checked by their own step, and take as long again.
  const quick = ["--noCheck", "--declaration", "false", "--sourceMap", "false"];
  const args = [tsc, "-p", "tsconfig.build.json", ...quick, "--outDir", join(installed, "dist")];
  await run(process.execPath, args, { cwd: checkout });
}, slowMs);
afterAll(() => rmSync(installed, { recursive: true, force: true, maxRetries: 5 }));

const built = () => ({ program: [manifest.bin["surefoot"] ?? ""], cwd: installed });

describe("the built package", () => {
  test.each([
    [".", "surefoot", ["defineAgent", "compileAgent", "operationId"]],
    ["./infra", "surefoot/infra", ["AgentStack", "DurableAgent"]],
    ["./local", "surefoot/local", ["startLocalRunner"]],
    ["./testing", "surefoot/testing", ["testAgent", "double", "at"]],
  ])("gives %s by the name %s", async (subpath, name, expected) => {
    const script = `console.log(JSON.stringify(Object.keys(await import(${JSON.stringify(name)}))))`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: installed });

    expect(JSON.parse(stdout)).toEqual(expect.arrayContaining(expected));
    const { types, default: module } = manifest.exports[subpath] ?? { types: "", default: "" };
    expect(types).toBe(module.replace(/\.js$/u, ".d.ts"));
    expect(existsSync(join(checkout, module.replace("./dist/", "").replace(/\.js$/u, ".ts")))).toBe(true);
  });

  test("exports nothing else", () => {
    expect(Object.keys(manifest.exports)).toEqual([".", "./infra", "./local", "./testing"]);
  });

  test("has the command, which plain node runs and a shell can start", async () => {
    const { code, stdout, stderr } = await surefoot(["--help"], built());

    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^Usage: surefoot /);
    expect(readFileSync(join(installed, manifest.bin["surefoot"] ?? ""), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  });
});

describe("serve from the build, with plain node", () => {
  test(
    "runs the shipped agent to its end",
    async () => {
      const runner = await serving(["--folder", join(installed, "shipped")], built());
      try {
        const actions = actionsOf(apiClient(runner.told.url));
        const ticket = {
          orderId: "ORD-DEMO-1",
          paymentId: "pi_demo_1",
          requestedAmountCents: 2_100,
          customerEmail: "customer@example.com",
          message: "It arrived broken.",
        };
        expect(await actions.ended(await actions.start("refund-agent", "T-1", ticket))).toMatchObject({
          status: "SUCCEEDED",
          operations: [{ status: "SUCCEEDED" }, { status: "SUCCEEDED" }],
        });
      } finally {
        await runner.stop();
      }
    },
    slowMs,
  );

  test(
    "runs a user's agent in JavaScript that imports the package by its name",
    async () => {
      const module = join(installed, "greeter.mjs");
      writeFileSync(
        module,
        `import { defineAgent } from "surefoot";
       import { z } from "zod";
       const text = z.object({ text: z.string() });
       export default defineAgent("greeter", { version: 1, input: text })
         .compute("greet", { output: text, run: ({ input }) => ({ text: "Hello, " + input.text }) })
         .end();`,
      );
      const runner = await serving(["--folder", join(installed, "own"), "--agent", module], built());
      try {
        const actions = actionsOf(apiClient(runner.told.url));
        expect(await actions.ended(await actions.start("greeter", "T-1", { text: "Ada" }))).toMatchObject({
          status: "SUCCEEDED",
          steps: [{ node: "greet", output: { text: "Hello, Ada" } }],
        });
      } finally {
        await runner.stop();
      }
    },
    slowMs,
  );
});

describe("drill from the build, with plain node", () => {
  /** Enough for the first cases, those around an operation. The whole drill is a step of its own. */
  const briefly = ["--seed", "3", "--budget", "5", "--combined", "0", "--json"];

  test(
    "proves the shipped agent",
    async () => {
      const drilled = await surefoot(["drill", "refund-agent", ...briefly], built());

      expect(drilled).toMatchObject({ code: 0 });
      expect(drilled.json()).toMatchObject({ agent: "refund-agent", seed: 3, violations: [], invented: [] });
    },
    slowMs,
  );

  test(
    "proves a user's agent in TypeScript, by the drill module beside it: keys, queries, and neither",
    async () => {
      writeFileSync(
        join(installed, "order.ts"),
        `import { byKey, byQuery, defineAgent, hours, minutes, none, writeTool } from "surefoot";
       import { z } from "zod";
       const Order = z.object({ order: z.string().regex(/^ORD-\\d+$/), cents: z.number().int() });
       const Receipt = z.object({ ref: z.string() });
       type Receipt = z.infer<typeof Receipt>;
       const tool = { version: 1, risk: "low", input: Order, output: Receipt, semanticFields: ["order"] } as const;
       const externalRef = ({ ref }: Receipt) => ref;
       const execute = () => Promise.reject<Receipt>(new Error("a drill never calls the real other side"));
       const lookup = async () => "cannot_tell" as const;
       const charge = writeTool("charge", { ...tool, externalRef, execute, downstream: byKey({ window: hours(24) }) });
       const reserve = writeTool("reserve", {
         ...tool, externalRef, execute, downstream: byQuery<z.infer<typeof Order>, Receipt>({ settle: minutes(2), lookup }),
       });
       const print = writeTool("print_label", { ...tool, externalRef, execute, downstream: none() });
       const write = {
         with: ({ input }: { input: z.infer<typeof Order> }) => input,
         businessKey: ({ input }: { input: z.infer<typeof Order> }) => input.order,
       };
       export default defineAgent("order-agent", { version: 1, input: Order })
         .write("charge", { ...write, tool: charge })
         .write("reserve", { ...write, tool: reserve })
         .write("print", { ...write, tool: print })
         .end();`,
      );
      writeFileSync(
        join(installed, "order.drill.ts"),
        `import { hours } from "surefoot";
       import { defineDrill, double } from "surefoot/testing";
       import agent from "./order.ts";
       const result = (_request: unknown, { n }: { n: number }) => ({ ref: "ref_" + n });
       export default defineDrill({
         agent,
         input: { order: "ORD-7", cents: 4_200 },
         tools: {
           charge: double.key({ window: hours(24), result }),
           reserve: double.query({ result }),
           print_label: double.none({ result }),
         },
       });`,
      );
      const drilled = await surefoot(["drill", "order.ts", ...briefly], built());

      expect(drilled).toMatchObject({ code: 0 });
      const report = drilled.json();
      expect(report).toMatchObject({ agent: "order-agent", seed: 3, violations: [], invented: [] });
      // A module that says nothing about its other sides would have them made up.
      expect(readFileSync(join(installed, report.report.markdown), "utf8")).toContain("order-agent");
    },
    slowMs,
  );
});
