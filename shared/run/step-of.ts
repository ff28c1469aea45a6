import type { AgentNode } from "../agent/node.ts";
import { fingerprintOf } from "../contract/manifest.ts";
import type { PackedValue } from "../payloads/claim-check.ts";
import { isoTime } from "../ports/clock.ts";
import type { Position } from "../runlog/position.ts";
import type { RunRecord } from "../runlog/run-record.ts";
import type { Step, TokenUsage } from "../runlog/step.ts";
import type { RunPorts } from "./ports.ts";

/** What a node came to, before it is a record. */
export interface NodeResult {
  readonly output: PackedValue;
  readonly next: string;
  readonly outcome: Step["outcome"];
  readonly usage?: TokenUsage;
  readonly operationId?: string;
  readonly simulated?: true;
}

export function stepOf(
  run: RunRecord,
  node: AgentNode,
  position: Position,
  result: NodeResult,
  { clock, ids }: Pick<RunPorts, "clock" | "ids">,
): Step {
  return {
    run_id: run.run_id,
    position,
    node: node.name,
    kind: node.kind,
    fingerprint: fingerprintOf(node),
    outcome: result.outcome,
    output: result.output,
    next: result.next,
    workflow_version: run.workflow_version,
    ...(result.usage && { usage: result.usage }),
    ...(result.simulated && { simulated: true }),
    ...(result.operationId !== undefined && { operation_id: result.operationId }),
    created_at: isoTime(clock.nowMs()),
    write_id: ids.next(),
  };
}
