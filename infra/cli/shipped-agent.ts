import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Module of the agent that ships: `.ts` in the repository, `.js` in a build. */
export function refundAgentModule(): string {
  const source = fileURLToPath(new URL("../../lambdas/agents/refund-agent/agent.ts", import.meta.url));
  return existsSync(source) ? source : source.replace(/\.ts$/u, ".js");
}
