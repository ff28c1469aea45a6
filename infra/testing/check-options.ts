import type { Agent } from "../../shared/agent/agent.ts";
import type { WriteTool } from "../../shared/agent/tool.ts";
import type { ToolDouble } from "../in-process/double.ts";
import { toolsOf } from "../in-process/gated-agent.ts";
import type { TestAgentOptions } from "./test-options.ts";

/** A test that is set up wrongly: it says what was expected and what to write instead. */
export class TestSetupError extends Error {
  override readonly name = "TestSetupError";
}

/** Checks everything that is given by name, before anything runs. @throws TestSetupError with every problem at once. */
export function checkOptions(agent: Agent, options: TestAgentOptions): void {
  const problems = [...ofModels(agent, options), ...ofTools(agent, options), ...ofPreconditions(agent, options)];
  if (problems.length > 0) throw new TestSetupError(`testAgent("${agent.name}"): ${problems.join("; ")}`);
}

function ofModels(agent: Agent, { models = {} }: TestAgentOptions): string[] {
  const asked = agent.nodes.filter(({ kind }) => kind === "model").map(({ name }) => name);
  const missing = asked.filter((name) => !(name in models));
  return [
    ...unknownNames("models", Object.keys(models), asked, "model node"),
    ...(missing.length > 0 ? [`models has no answer for ${missing.join(", ")}: add one each`] : []),
  ];
}

function ofTools(agent: Agent, { tools = {} }: TestAgentOptions): string[] {
  const known = new Map(toolsOf(agent).map((tool) => [tool.name, tool]));
  return [
    ...unknownNames("tools", Object.keys(tools), [...known.keys()], "tool"),
    ...Object.entries(tools).flatMap(([name, given]) => {
      const tool = known.get(name);
      if (tool === undefined || typeof given === "function") return [];
      if (tool.effect === "read") return [`tools.${name}: it only reads; give a function that answers, not a double`];
      return weakness(tool, given);
    }),
  ];
}

/** What a tool declares of the other side and its double does not do. */
function weakness({ name, downstream }: WriteTool, given: ToolDouble): string[] {
  if (given.evenIfWeaker || downstream.by === "none") return [];
  const hours = (ms: number) => `${ms / 3_600_000} h`;
  const remembersLess = downstream.by === "key" && (given.windowMs ?? 0) < downstream.windowMs;
  const cannotBeAsked = downstream.by === "query" && given.capability === "none";
  if (!remembersLess && !cannotBeAsked) return [];
  const declared =
    downstream.by === "key" ? `to dedupe by key for ${hours(downstream.windowMs)}` : "to answer a lookup";
  const does =
    given.windowMs === undefined ? `is double.${given.capability}` : `remembers a key for ${hours(given.windowMs)}`;
  const use =
    downstream.by === "key" ? `double.key with window: hours(${downstream.windowMs / 3_600_000})` : "double.query";
  return [
    `tools.${name}: the tool declares the other side ${declared}, its double ${does}; use ${use}, or say evenIfWeaker: true where that is what you test`,
  ];
}

function ofPreconditions(agent: Agent, { preconditions = {} }: TestAgentOptions): string[] {
  const asked = agent.nodes.filter((node) => node.kind === "write" && node.precondition !== undefined);
  return unknownNames(
    "preconditions",
    Object.keys(preconditions),
    asked.map(({ name }) => name),
    "write node with a precondition",
  );
}

function unknownNames(option: string, given: readonly string[], known: readonly string[], what: string): string[] {
  return given
    .filter((name) => !known.includes(name))
    .map((name) => `${option}.${name}: the agent has no such ${what}; expected one of ${known.join(", ") || "none"}`);
}
