import type { WriteTool } from "../../shared/agent/tool.ts";
import type { Agent } from "../../shared/agent/agent.ts";
import { double } from "../in-process/double.ts";
import { toolsOf } from "../in-process/gated-agent.ts";
import type { TestAgentOptions, ToolScript } from "../testing/test-options.ts";
import type { DrillScript } from "./drill-script.ts";
import { inventValue } from "../../shared/agent/invent-value.ts";

/** A script with nothing left open. */
export type CompleteScript = Required<Pick<DrillScript, "agent" | "input" | "decide">> & {
  readonly world: TestAgentOptions;
  /** What was made up, in words: a drill says so, since an agent may need better. */
  readonly invented: readonly string[];
};

/** Makes up what the script leaves out: answers from schemas, and an other side for each tool that offers exactly what it declares. */
export function completeScript(script: DrillScript): CompleteScript {
  const { agent } = script;
  const invented: string[] = [];
  const inventedAs = <T>(what: string, value: T): T => {
    invented.push(what);
    return value;
  };
  const input =
    script.input ?? inventedAs("the input", inventValue(agent.input, `the input of ${agent.name}`, "drill"));
  const models = { ...script.models };
  for (const node of agent.nodes) {
    if (node.kind !== "model" || models[node.name] !== undefined) continue;
    const what = `the answer of model node "${node.name}"`;
    models[node.name] = inventedAs(
      what,
      inventValue(node.output, what, node.name) as Readonly<Record<string, unknown>>,
    );
  }
  const tools: Record<string, ToolScript> = { ...script.tools };
  for (const tool of toolsOf(agent)) {
    if (tools[tool.name] !== undefined) continue;
    const what = `the result of tool "${tool.name}"`;
    const result = inventedAs(what, inventValue(tool.output, what, tool.name));
    tools[tool.name] = tool.effect === "read" ? () => result : otherSideOf(tool, result);
  }
  const world = {
    ...(script.settings && { settings: script.settings }),
    models,
    tools,
    preconditions: preconditionsOf(agent, script),
  };
  return { agent, input, decide: script.decide ?? (() => "approve"), world, invented };
}

/** An other side with the capability that the tool declares, no more and no less. */
function otherSideOf({ downstream }: WriteTool, result: unknown): ToolScript {
  switch (downstream.by) {
    case "key":
      return double.key({ window: downstream.windowMs, result });
    case "query":
      return double.query({ result });
    case "none":
      return double.none({ result });
    default:
      return downstream satisfies never;
  }
}

/** A precondition asks the real other side: where the script has no other, it holds. */
function preconditionsOf(agent: Agent, script: DrillScript): NonNullable<TestAgentOptions["preconditions"]> {
  const asked = agent.nodes.filter((node) => node.kind === "write" && node.precondition !== undefined);
  return { ...Object.fromEntries(asked.map(({ name }) => [name, () => true as const])), ...script.preconditions };
}
