import refundAgent from "../../../lambdas/agents/refund-agent/agent.ts";
import type { Agent } from "../../../shared/agent/agent.ts";
import type { AgentNode } from "../../../shared/agent/node.ts";
import { seconds } from "../../../shared/index.ts";

// Every request to DynamoDB names the process that sends it, so that a test kills exactly the one it means.
process.env["AWS_SDK_UA_APP_ID"] = String(process.pid);

/** Long enough for a busy machine, short enough that a dead attempt's lease, which follows the step function's timeout, lapses in a test. */
const timeoutMs = seconds(10);

function quick(node: AgentNode): AgentNode {
  if (node.kind === "model") return { ...node, timeoutMs };
  if (node.kind === "read") return { ...node, tool: { ...node.tool, timeoutMs } };
  return node.kind === "write" ? { ...node, tool: { ...node.tool, timeoutMs } } : node;
}

/** The shipped refund agent, its tools and its prompts, in less time. */
const quickRefund: Agent = { ...refundAgent, name: "quick-refund", nodes: refundAgent.nodes.map(quick) };
export default quickRefund;
