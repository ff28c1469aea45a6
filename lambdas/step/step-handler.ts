import { z } from "zod";
import type { Agent } from "../../shared/agent/agent.ts";
import { linesOf } from "../../shared/compile/lines.ts";
import type { NodePorts } from "../../shared/run/ports.ts";
import { type LineExit, runLine } from "../../shared/run/run-line.ts";
import { Position } from "../../shared/runlog/position.ts";

export const StepEvent = z.object({ run_id: z.string(), position: Position, line: z.string(), execution: z.string() });

/** The part of Lambda's context that a step needs. */
export interface Invocation {
  getRemainingTimeInMillis(): number;
}

/** Runs one line of an agent. Ids in, ids out. */
export function createStepHandler(
  agent: Agent,
  ports: NodePorts,
): (event: unknown, invocation: Invocation) => Promise<LineExit> {
  const lines = new Map(linesOf(agent).map((line) => [line.name, line]));
  return async (event, invocation) => {
    const { run_id, position, line: name, execution } = StepEvent.parse(event);
    const line = lines.get(name);
    if (!line) {
      throw new Error(
        `agent ${agent.name} version ${agent.version} has no line "${name}": the state machine was compiled from another version`,
      );
    }
    const killedAtMs = ports.clock.nowMs() + invocation.getRemainingTimeInMillis();
    return runLine(agent, line, { runId: run_id, position, execution, killedAtMs }, ports);
  };
}
