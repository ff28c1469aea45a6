import { type Agent, firstNode } from "../agent/agent.ts";
import { type Manifest, manifestOf } from "../contract/manifest.ts";
import type { StateMachineDefinition } from "./asl.ts";
import { type CompileSettings, compileSettingsDefault } from "./compile-settings.ts";
import { compileStates } from "./compile-states.ts";
import { type Line, linesOf } from "./lines.ts";

/** An agent, compiled: the states, the contract, and how nodes lie on lines. CDK and the local runner take the same output. */
export interface CompiledAgent {
  readonly name: string;
  readonly version: number;
  readonly definition: StateMachineDefinition;
  readonly manifest: Manifest;
  readonly lines: readonly Line[];
  /** Where a run starts. */
  readonly entry: string;
}

/** Pure. @throws AgentDefinitionError when a node cannot finish within the step function's time. */
export function compileAgent(agent: Agent, settings: CompileSettings = compileSettingsDefault): CompiledAgent {
  const lines = linesOf(agent);
  return {
    name: agent.name,
    version: agent.version,
    definition: compileStates(agent, lines, settings),
    manifest: manifestOf(agent),
    lines,
    entry: firstNode(agent).name,
  };
}
