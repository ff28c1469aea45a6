import { z } from "zod";
import type { AgentNode } from "../agent/node.ts";
import { fingerprintOf } from "../contract/manifest.ts";
import { Fault } from "../faults/fault.ts";
import { packValue } from "../payloads/claim-check.ts";
import { isoTime } from "../ports/clock.ts";
import type { Position } from "../runlog/position.ts";
import type { RunRecord } from "../runlog/run-record.ts";
import type { ResolutionSubject } from "../waiter/resolution-subject.ts";
import type { RunPorts } from "./ports.ts";

/** A node at a position of a run, on the line that runs it. */
export interface NodePlace {
  readonly run: RunRecord;
  readonly node: AgentNode;
  readonly position: Position;
  readonly line: string;
}

/** Opens the waiter at which the ledger's word on an operation wakes the run. Its token is put by the state that waits. */
export async function waitForLedger(
  { run, node, position, line }: NodePlace,
  kind: "resolution" | "delivery",
  operationId: string,
  ports: RunPorts,
  fault?: Fault,
): Promise<void> {
  if (node.kind !== "write") {
    throw new Fault(
      "waiter_without_write",
      "final",
      `node ${node.name} is no write: no operation of its own can be awaited`,
    );
  }
  const { tool } = node;
  const subject: ResolutionSubject = {
    action_name: tool.name,
    ...(fault && { error: fault.toRecord() }),
    result_schema: z.toJSONSchema(tool.output, { io: "output" }),
    reference_suffices: tool.resultOf !== undefined,
  };
  const now = isoTime(ports.clock.nowMs());
  await ports.log.putWaiter({
    run_id: run.run_id,
    position,
    node: node.name,
    kind,
    agent: run.agent,
    workflow_id: run.workflow_id,
    workflow_version: run.workflow_version,
    fingerprint: fingerprintOf(node),
    line,
    routes: {},
    subject: await packValue(ports.payloads, run.run_id, subject),
    operation_id: operationId,
    risk: tool.risk,
    requested_at: now,
    // It waits for as long as it takes: the state's own timeout parks the run.
    expires_at: now,
    status: "OPEN",
    write_id: ports.ids.next(),
  });
}
