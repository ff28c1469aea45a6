import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";

const checkout = fileURLToPath(new URL("../../..", import.meta.url));

export interface AgentText {
  readonly version?: number;
  readonly prompt?: string;
  /** A node before the payment. */
  readonly riskCheck?: boolean;
  readonly timeoutMs?: number;
  readonly options?: string;
}

/** The agent of the story, as a developer has it in a file. */
const moduleText = ({
  version = 7,
  prompt = "Plan.",
  riskCheck = false,
  timeoutMs = 9_000,
  options = "",
}: AgentText) => `
import { days, defineAgent, definePrompt, hours, byKey, readTool, writeTool } from "surefoot";
import { z } from "zod";
const Plan = z.object({ cents: z.number() });
const look = readTool("look", { version: 1, input: z.object({}), output: Plan, execute: async () => ({ cents: 1 }) });
const pay = writeTool("pay", {
  version: 1, risk: "high", input: z.object({ cents: z.number() }), output: z.object({ ref: z.string() }),
  downstream: byKey({ window: hours(24) }), semanticFields: ["cents"], execute: async () => ({ ref: "r" }),
});
export default defineAgent("shop", { version: ${version}, input: z.object({ order: z.string() })${options} })
  .model("planner", { prompt: definePrompt("planner", { release: 1, text: ${JSON.stringify(prompt)}, data: (s) => s }), output: Plan, timeout: ${timeoutMs} })
  .read("lookup", { tool: look, with: () => ({}) })
  .approval("approval", {
    of: "payment", validFor: days(7), onReject: "planner",
    show: () => ({ title: "t", fields: [{ type: "text", label: "l", text: "t" }], on_approve: "a", on_reject: "r" }),
  })
  ${riskCheck ? `.compute("risk_check", { output: z.object({ risk: z.number() }), run: () => ({ risk: 0 }) })` : ""}
  .write("payment", { tool: pay, with: () => ({ cents: 1 }), businessKey: () => "o-1" })
  .end();
`;

export interface AgentFolder {
  path(...parts: string[]): string;
  /** Writes the module as the developer changed it. @returns its path. */
  write(text?: AgentText): string;
}

/** Makes folders of developers, each with an agent in it, for a test file. */
export function agentFolders(): () => AgentFolder {
  let root = "";
  let folders = 0;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "surefoot-contracts-"));
    // A module finds its packages where it lies.
    symlinkSync(join(checkout, "node_modules"), join(root, "node_modules"));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  return () => {
    const folder = join(root, `agent-${++folders}`);
    mkdirSync(folder);
    return {
      path: (...parts) => join(folder, ...parts),
      write(text = {}) {
        const file = join(folder, "agent.ts");
        writeFileSync(file, moduleText(text));
        return file;
      },
    };
  };
}
