import type { AgentNode } from "../agent/node.ts";
import { snapshotTimeoutMs } from "../approval/read-snapshot.ts";

/** Time to record a result after a call came back: a few conditional writes, with the SDK's own retries. */
export const commitMarginMs = 2_000;

/** Longest a node may take in one invocation, its bookkeeping included. With less left, the invocation hands over before it starts. */
export function nodeTimeMs(node: AgentNode): number {
  switch (node.kind) {
    case "model":
      return node.timeoutMs + commitMarginMs;
    case "read":
    case "write":
      return node.tool.timeoutMs + commitMarginMs;
    case "approval":
      return (node.snapshot ? snapshotTimeoutMs : 0) + commitMarginMs;
    case "compute":
    case "route":
      return commitMarginMs;
    default:
      return node satisfies never;
  }
}
