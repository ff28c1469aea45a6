import type { Agent } from "../../shared/agent/agent.ts";
import type { TestAgentOptions } from "../testing/test-options.ts";

/** What a drill needs to know beside the agent. Everything that is left out is made up from the agent's own schemas. */
export interface DrillScript extends Pick<TestAgentOptions, "models" | "tools" | "preconditions" | "settings"> {
  readonly agent: Agent;
  /** Of the run that is drilled. @default made up from the agent's input schema */
  readonly input?: unknown;
  /** What people say at an approval, by its node's name. @default approve */
  readonly decide?: (node: string) => "approve" | "reject";
}

/** Says how an agent is drilled: the default export of a drill module, or of a module beside the agent's called `<agent>.drill.ts`. */
export const defineDrill = (script: DrillScript): DrillScript => script;
