import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProgram } from "../../../infra/cli/program.ts";
import { surefoot } from "./command.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "surefoot-usage-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const trace = /^\s+at .*:\d+:\d+/mu;
const startWith = (input: string) => ["start", "refund-agent", "--workflow-id", "T-1", "--input", input];

describe("help", () => {
  test("of the command names every command, where the API is looked for, and the exit codes", async () => {
    const { code, stdout, stderr } = await surefoot(["--help"]);

    expect(code).toBe(0);
    expect(stderr).toBe("");
    for (const name of ["serve", "demo", "start", "runs", "trace", "operations", "approvals", "approve", "reject"]) {
      expect(stdout).toMatch(new RegExp(`^ {2}${name} `, "mu"));
    }
    expect(stdout).toContain("--api, else SUREFOOT_API, else the runner started in --folder");
    expect(stdout).toMatch(/0 done, 1 .*, 2 .*, 3 nobody answers/);
  });

  test("of one command names its options and the global ones", async () => {
    const { code, stdout } = await surefoot(["start", "--help"]);

    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: surefoot start /u);
    for (const option of ["--workflow-id <id>", "--input <json>", "--allow-new-run", "--json", "--api", "--folder"]) {
      expect(stdout).toMatch(new RegExp(`^ {2}${option} `, "mu"));
    }
  });

  test("of every command says what it does and how it can end", () => {
    for (const command of createProgram().commands) {
      expect(command.description(), command.name()).not.toBe("");
      let shown = "";
      command.configureOutput({ writeOut: (text) => (shown += text) }).outputHelp();
      expect(shown, command.name()).toContain("Global Options:");
      expect(shown, command.name()).toContain("Exit codes:");
    }
  });
});

describe("a wrong command line ends with 2, says what was expected, and nothing is tried", () => {
  test.each<[string, readonly string[], RegExp]>([
    ["no command", [], /^Usage: surefoot/],
    ["an unknown command", ["frobnicate"], /unknown command 'frobnicate'\n\(surefoot --help says more\)/],
    ["a misspelled command", ["approvalls"], /unknown command 'approvalls'\n\(Did you mean .*approvals/],
    ["an unknown option", ["runs", "--all"], /unknown option '--all'/],
    [
      "no agent",
      ["start", "--workflow-id", "T-1", "--input", "{}"],
      /missing required argument 'agent'\n\(surefoot start --help says more\)/,
    ],
    ["no workflow id", ["start", "a", "--input", "{}"], /required option '--workflow-id <id>' not specified/],
    ["no input", ["start", "a", "--workflow-id", "T-1"], /required option '--input <json>' not specified/],
    ["no run", ["trace"], /missing required argument 'run_id\|workflow_id'/],
    ["no reason", ["retire", "a", "7"], /required option '--reason <text>' not specified/],
    [
      "a version that is none",
      ["retire", "a", "seven", "--reason", "why"],
      /version: expected a whole number from 1 to 9999999999, found "seven"/,
    ],
    ["no approval", ["approve"], /missing required argument 'approval_id'/],
    [
      "input that is no JSON",
      startWith("{orderId: 1}"),
      /--input is not JSON \(.*\): pass '\{"key": …\}', @file\.json, or -/,
    ],
    ["an empty standard input", startWith("-"), /--input is not JSON \(Unexpected end/],
    [
      "a file that is not there",
      startWith("@nonesuch.json"),
      /--input names nonesuch\.json, which cannot be read \(ENOENT/,
    ],
    [
      "a limit that is no number",
      ["runs", "--limit", "abc"],
      /--limit: expected a whole number from 1 to 200, found "abc"/,
    ],
    ["a limit of none", ["runs", "--limit", "0"], /found "0"/],
    ["a limit below none", ["runs", "--limit", "-1"], /found "-1"/],
    ["a limit beyond the API's", ["runs", "--limit", "201"], /found "201"/],
    [
      "an address that is none",
      ["runs", "--api", "localhost:4310"],
      /--api: expected an address like .*, found "localhost:4310"/,
    ],
    [
      "a port that is none",
      ["serve", "--port", "http"],
      /--port: expected a whole number from 0 to 65535, found "http"/,
    ],
    ["a port that cannot be", ["serve", "--port", "65536"], /found "65536"/],
  ])("%s", async (_what, args, message) => {
    const { code, stdout, stderr, json } = await surefoot([...args, "--folder", folder, "--json"]);

    expect(stderr).toMatch(message);
    expect(code).toBe(2);
    expect(stderr).not.toMatch(trace);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(json()).toEqual({
      error: { code: expect.stringMatching(/^[a-z_]+$/) as string, message: expect.any(String) as string },
    });
  });
});

describe("without an API it ends with 3", () => {
  const unreachable = "http://127.0.0.1:1";

  test.each<[string, readonly string[]]>([
    ["runs", ["runs"]],
    ["start", startWith("{}")],
  ])("%s says that no runner was started there, and how to start one", async (_name, args) => {
    const { code, stderr, json } = await surefoot([...args, "--folder", folder, "--json"]);

    expect(code).toBe(3);
    expect(stderr).toBe(
      `surefoot: no runner has been started in ${folder}: start one with surefoot serve, or say where the API is with --api <url>\n`,
    );
    expect(json()).toMatchObject({ error: { code: "no_api" } });
  });

  test.each<[string, readonly string[], Readonly<Record<string, string>>]>([
    ["--api", ["runs", "--api", unreachable], {}],
    ["SUREFOOT_API", ["runs"], { SUREFOOT_API: unreachable }],
  ])("an address by %s where nobody answers is named", async (_by, args, env) => {
    const { code, stderr } = await surefoot([...args, "--folder", folder], { env });

    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^surefoot: nobody answers at http:\/\/127\.0\.0\.1:1 \(.+\): is the runner still running\?/,
    );
    expect(stderr).not.toMatch(trace);
  });

  test("a runner that was killed leaves its address behind, and that nobody answers there is said", async () => {
    writeFileSync(join(folder, "runner.json"), JSON.stringify({ url: unreachable, pid: 1 }));
    const { code, stderr } = await surefoot(["runs", "--folder", folder]);
    rmSync(join(folder, "runner.json"));

    expect(code).toBe(3);
    expect(stderr).toContain(`nobody answers at ${unreachable}`);
    expect(stderr).toContain("surefoot serve starts it, and open runs go on");
  });
});
