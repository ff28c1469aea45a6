import type { Agent } from "../../shared/agent/agent.ts";
import { Engine, type EngineOptions } from "../in-process/engine.ts";
import type { MakeStandIn } from "../in-process/stand-in.ts";
import { checkOptions } from "./check-options.ts";
import { ScriptedModels } from "./scripted-models.ts";
import type { TestAgentOptions, ToolScript } from "./test-options.ts";
import { TestWorld } from "./test-world.ts";

/**
 * Puts an agent into a world of its own: the states and handlers that run on AWS, DynamoDB in memory, a queue, a sweep, and time that passes
 * only when a test lets it. Nothing to start, nothing to stop, no network.
 * @throws TestSetupError where a name in the options is not the agent's, or an answer is missing.
 */
export async function testAgent(agent: Agent, options: TestAgentOptions = {}): Promise<TestWorld> {
  checkOptions(agent, options);
  const models = new ScriptedModels(options.models ?? {});
  const standIns = Object.entries(options.tools ?? {}).map(([name, script]) => [name, standInOf(script)] as const);
  const engine = await Engine.start({
    agents: [agent],
    models,
    standIns: Object.fromEntries(standIns),
    // The agent's types have checked what its own callbacks take; a test says for itself.
    preconditions: (options.preconditions ?? {}) as NonNullable<EngineOptions["preconditions"]>,
    ...(options.seed !== undefined && { seed: options.seed }),
    ...(options.startAt !== undefined && { startMs: instantOf(options.startAt) }),
    ...(options.settings !== undefined && { settings: options.settings }),
    ...(options.sweepEvery !== undefined && { sweepEveryMs: options.sweepEvery }),
  });
  return new TestWorld(agent, engine, models);
}

const standInOf = (script: ToolScript): MakeStandIn =>
  typeof script === "function"
    ? (_tool, { journal }) => {
        const seen = { effects: (tool?: string, businessKey?: string) => journal.effects(tool, businessKey) };
        return { execute: (request) => script(request as never, seen) };
      }
    : script.make;

function instantOf(startAt: string): number {
  const ms = Date.parse(startAt);
  if (Number.isFinite(ms)) return ms;
  throw new RangeError(`startAt: expected an instant like 2026-09-02T12:00:00Z, found "${startAt}"`);
}
