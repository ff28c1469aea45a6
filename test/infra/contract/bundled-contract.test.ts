import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadAgents } from "../../../infra/local/load-agents.ts";
import refundAgent from "../../../lambdas/agents/refund-agent/agent.ts";
import { manifestOf } from "../../../shared/index.ts";
import { refund } from "../synthesized-stack.ts";

const folder = mkdtempSync(join(tmpdir(), "surefoot-bundled-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("an agent has the same contract from its source and from a minified bundle with libraries of its own", async () => {
  const [bundled] = await loadAgents([refund.modulePath], folder);
  if (!bundled) throw new Error("expected the agent");
  expect(bundled).not.toBe(refundAgent);
  expect(manifestOf(bundled)).toEqual(manifestOf(refundAgent));
});
