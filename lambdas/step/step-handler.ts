import { z } from "zod";
import type { Agent } from "../../shared/agent/agent.ts";
import { COMPENSATE, linesOf, TAKE_OVER } from "../../shared/compile/lines.ts";
import { OperationId } from "../../shared/operation/operation-id.ts";
import { compensateRun } from "../../shared/run/compensate-run.ts";
import { deliverOperation } from "../../shared/run/deliver-operation.ts";
import type { NodePorts } from "../../shared/run/ports.ts";
import { reconcileOperation } from "../../shared/run/reconcile-operation.ts";
import { runLine } from "../../shared/run/run-line.ts";
import { takeOverRun } from "../../shared/run/take-over.ts";
import { Position } from "../../shared/runlog/position.ts";
import { orPassing } from "../or-passing.ts";

/** The state machine runs a line; the sweep and the queue's worker have the run's own version look after one operation. */
export const StepEvent = z.union([
  z.object({ run_id: z.string(), position: Position, line: z.string(), execution: z.string() }),
  z.object({ action: z.enum(["reconcile", "deliver"]), operation_id: OperationId }),
]);

/** The part of Lambda's context that a step needs. */
export interface Invocation {
  getRemainingTimeInMillis(): number;
  readonly invokedFunctionArn?: string;
}

/** Runs one line of an agent, undoes what a run of it has done, takes a run of another version over, or looks after one of its operations. Ids in, ids out. */
export function createStepHandler(
  agent: Agent,
  ports: NodePorts,
): (event: unknown, invocation: Invocation) => Promise<unknown> {
  const lines = new Map(linesOf(agent).map((line) => [line.name, line]));
  return async (event, invocation) => {
    const parsed = StepEvent.parse(event);
    const within = {
      killedAtMs: ports.clock.nowMs() + invocation.getRemainingTimeInMillis(),
      functionArn: invocation.invokedFunctionArn,
    };
    if ("action" in parsed) {
      const entry = { operationId: parsed.operation_id, ...within };
      if (parsed.action === "deliver") return deliverOperation(agent, entry, ports);
      return { status: await reconcileOperation(agent, entry, ports) };
    }
    const entry = { runId: parsed.run_id, position: parsed.position, execution: parsed.execution, ...within };
    const what = `run ${parsed.run_id} at ${parsed.position}`;
    if (parsed.line === COMPENSATE) return orPassing(what, () => compensateRun(agent, entry, ports));
    if (parsed.line === TAKE_OVER) return orPassing(what, () => takeOverRun(agent, entry, ports));
    const line = lines.get(parsed.line);
    if (!line) {
      throw new Error(
        `agent ${agent.name} version ${agent.version} has no line "${parsed.line}": the state machine was compiled from another version`,
      );
    }
    return orPassing(what, () => runLine(agent, line, entry, ports));
  };
}
