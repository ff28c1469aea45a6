import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { describe, expect, test } from "vitest";
import { checkContracts, releaseContracts } from "../../../infra/cli/contract.ts";
import type { CliError } from "../../../infra/cli/cli-error.ts";
import { Manifest } from "../../../shared/contract/manifest.ts";
import { agentFolders, type AgentText } from "../contract/agent-modules.ts";
import { surefoot } from "./command.ts";

const newFolder = agentFolders();

/** What a command told, as a person and as a program read it. */
function listening() {
  const told = { text: "", value: undefined as unknown };
  const result = (value: unknown, human: () => string) => {
    told.value = JSON.parse(JSON.stringify(value));
    told.text = human();
  };
  const api = () => {
    throw new Error("nobody asks the API");
  };
  return { told, session: { output: { json: false, result, progress: () => undefined }, api, folder: "" } };
}

async function check(module: string, replay = "no-such-folder") {
  const { told, session } = listening();
  const code = await checkContracts({ agent: [module], replay }, session);
  return { code, ...told };
}
async function release(module: string) {
  const { told, session } = listening();
  await releaseContracts([module], session);
  return told;
}
const refusalOf = (promise: Promise<unknown>): Promise<CliError> =>
  promise.then(
    () => Promise.reject(new Error("expected a refusal")),
    (error: unknown) => error as CliError,
  );

/** A developer's agent, version 7 released. */
async function released() {
  const folder = newFolder();
  await release(folder.write());
  return folder;
}

describe("a release", () => {
  test("is one readable file beside the agent's module, the same however often it is made", async () => {
    const folder = newFolder();
    const first = await release(folder.write());
    const text = readFileSync(folder.path("contracts", "7.json"), "utf8");
    expect(first.value).toEqual({
      released: [
        { agent: "shop", version: 7, file: relative(process.cwd(), folder.path("contracts", "7.json")), written: true },
      ],
    });
    expect(text.split("\n").length).toBeGreaterThan(80);
    expect(Manifest.parse(JSON.parse(text)).nodes.map(({ name }) => name)).toEqual([
      ...["planner", "lookup", "approval", "payment"],
    ]);

    const second = await release(folder.write());
    expect(second.value).toMatchObject({ released: [{ written: false }] });
    expect(second.text).toMatch(/^shop version 7 was released before, with this very contract/);
    expect(readFileSync(folder.path("contracts", "7.json"), "utf8")).toBe(text);
  });

  test("is never written over: another contract under its version is refused, with what changed and what to do", async () => {
    const folder = await released();
    const text = readFileSync(folder.path("contracts", "7.json"), "utf8");
    const refused = await refusalOf(release(folder.write({ prompt: "Plan well." })));
    expect(refused).toMatchObject({ exitCode: 1, code: "released" });
    expect(refused.message).toMatch(
      /contracts\/7\.json holds another contract of version 7 \(planner the prompt's text changed\): a release is never changed; raise the version to 8$/,
    );
    expect(readFileSync(folder.path("contracts", "7.json"), "utf8")).toBe(text);
  });

  test("of a version below one that was released is refused", async () => {
    const folder = await released();
    const refused = await refusalOf(release(folder.write({ version: 6 })));
    expect(refused).toMatchObject({ exitCode: 1, code: "older_version" });
    expect(existsSync(folder.path("contracts", "6.json"))).toBe(false);
  });
});

describe("a check", () => {
  test("passes what was released, and says so", async () => {
    const folder = await released();
    const { code, text, value } = await check(folder.write());
    expect(code).toBe(0);
    expect(text).toMatch(/^shop version 7 is what was released \(/);
    expect(value).toMatchObject({
      passed: true,
      agents: [{ agent: "shop", version: 7, released: true, problems: [], comparisons: [{ verdict: "same" }] }],
    });
  });

  test("passes a change that no open run can tell", async () => {
    const folder = await released();
    const { code, text } = await check(folder.write({ timeoutMs: 1_000 }));
    expect(code).toBe(0);
    expect(text).toContain("shop version 7 differs from what was released");
    expect(text).toContain("  planner timeout ms: 9000 → 1000\n");
  });

  test("passes a version that is not released yet, and says how to release it", async () => {
    const folder = newFolder();
    const { code, text } = await check(folder.write());
    expect(code).toBe(0);
    expect(text).toMatch(/^shop version 7 is not released yet: surefoot contract release writes .*contracts\/7\.json/);
  });

  test.each<[string, AgentText, string]>([
    ["a prompt's text", { prompt: "Plan well." }, "breaking for runs past planner"],
    ["a node more", { riskCheck: true }, "breaking for runs at approval"],
  ])("fails %s under a released version, and says whom it breaks and what to do", async (_what, text, whom) => {
    const folder = await released();
    const failed = await check(folder.write(text));
    expect(failed.code).toBe(1);
    expect(failed.text).toContain(whom);
    expect(failed.text).toContain(
      "FAIL shop: version 7 is not what was released (incompatible): raise the version to 8",
    );
    expect(failed.value).toMatchObject({ passed: false, agents: [{ comparisons: [{ verdict: "incompatible" }] }] });
  });

  test("fails a version below one that was released", async () => {
    const folder = await released();
    const failed = await check(folder.write({ version: 6 }));
    expect(failed.code).toBe(1);
    expect(failed.text).toContain("FAIL shop: version 6 is older than released version 7");
  });

  test("tells the story: a check before the payment, under a raised version", async () => {
    const folder = await released();
    const { code, text, value } = await check(folder.write({ version: 8, riskCheck: true }));
    expect(code).toBe(0);
    const lines = text.split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        "against version 7: incompatible",
        "  risk_check was inserted between approval and payment",
        "    breaking for runs at approval: the approval authorises a payment that has skipped risk_check",
        "    breaking for runs past approval: they have skipped risk_check",
        "  → open runs of version 7 stay on it until they end, as long as it is deployed beside version 8",
        "  → to bring them along, register a migration: migrations: [{ from: 7, to: 8, migrate: (state) => … }]",
      ]),
    );
    expect(value).toMatchObject({
      passed: true,
      agents: [{ version: 8, released: false, comparisons: [{ from: 7, to: 8, verdict: "incompatible" }] }],
    });
  });

  test("finds a migration for it", async () => {
    const folder = await released();
    const options = ", migrations: [{ from: 7, to: 8, migrate: (state) => state }]";
    const { code, text } = await check(folder.write({ version: 8, riskCheck: true, options }));
    expect(code).toBe(0);
    expect(text).toContain("against version 7: migrate\n");
    expect(text).toContain("    migrated for runs at approval: ");
    expect(text).toContain("  → the registered migrations bring open runs of version 7 along to version 8");
  });

  test("ends with 2 where a release is unreadable, of another version or of another agent", async () => {
    const folder = await released();
    const file = folder.path("contracts", "7.json");
    const text = readFileSync(file, "utf8");
    for (const [content, problem] of [
      ["{", "cannot be read"],
      ["{}", "is no contract (workflow_name"],
      [text.replace('"workflow_version": 7', '"workflow_version": 8'), "holds the contract of version 8, expected 7"],
      [text.replace('"workflow_name": "shop"', '"workflow_name": "other"'), "holds a contract of other, expected shop"],
    ] as const) {
      writeFileSync(file, content);
      const refused = await refusalOf(check(folder.write()));
      expect(refused).toMatchObject({ exitCode: 2, code: "bad_file" });
      expect(refused.message).toContain(problem);
    }
  });
});

describe("the command", () => {
  test.each([[["contract", "--help"]], [["contract", "check", "--help"]], [["contract", "release", "--help"]]])(
    "%j explains itself",
    async (args) => {
      const { code, stdout, stderr } = await surefoot(args);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(/Usage: surefoot contract/);
    },
  );

  test("checks the shipped agent by itself, as JSON in one line", async () => {
    const { code, stdout, json } = await surefoot(["contract", "check", "--json"]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(json()).toMatchObject({ passed: true, agents: [{ agent: "refund-agent" }] });
    expect(code).toBe(0);
  });

  test("ends with 1 where a check failed, and with 2 where a module or an option is wrong", async () => {
    const folder = await released();
    const failed = await surefoot(["contract", "check", "--agent", folder.write({ prompt: "Other." }), "--json"]);
    expect(failed.code).toBe(1);
    expect(failed.json()).toMatchObject({ passed: false, agents: [{ agent: "shop" }] });
    expect(failed.stderr).toBe("");

    const missing = await surefoot(["contract", "check", "--agent", folder.path("none.ts"), "--json"]);
    expect([missing.code, missing.json().error.code]).toEqual([2, "no_module"]);
    writeFileSync(folder.path("agent.ts"), "export const agent = 1;");
    const noAgent = await surefoot(["contract", "release", "--agent", folder.path("agent.ts"), "--json"]);
    expect([noAgent.code, noAgent.json().error.code]).toEqual([2, "bad_agent"]);
    const unknown = await surefoot(["contract", "check", "--against", "production", "--json"]);
    expect([unknown.code, unknown.json().error.code]).toEqual([2, "usage"]);
  });

  test("that asks a stack which does not answer ends with 3", async () => {
    const { code, json } = await surefoot([
      "contract",
      "check",
      "--against",
      "live",
      "--api",
      "http://127.0.0.1:9",
      "--json",
    ]);
    expect([code, json().error.code]).toEqual([3, "unreachable"]);
  });
});
