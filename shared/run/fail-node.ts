import type { AgentNode } from "../agent/node.ts";
import { wireError } from "../compile/wire-errors.ts";
import { Fault, isFault } from "../faults/fault.ts";
import { ComeBackLater, HandedOut, OperationUnknown, ReplayContractError, StaleExecution } from "../faults/faults.ts";
import { WireFault } from "../faults/wire-fault.ts";
import { isoTime } from "../ports/clock.ts";
import type { RunPorts } from "./ports.ts";
import { type NodePlace, waitForLedger } from "./wait-for-ledger.ts";

/**
 * Records a failed attempt where a person will look for it, and says in the state machine's words what comes next.
 * Coming back later and stale executions are no failures: nothing is recorded.
 */
export async function failNode(at: NodePlace, error: unknown, ports: RunPorts): Promise<WireFault> {
  const where = `run ${at.run.run_id} at ${at.position}`;
  if (error instanceof StaleExecution) return new WireFault(wireError.stale, error.message, error);
  if (error instanceof ComeBackLater) return new WireFault(wireError.later, `${where}: ${error.code}`, error);

  if (error instanceof HandedOut) {
    await waitForLedger(at, "delivery", error.operationId, ports);
    return new WireFault(wireError.handedOut(at.node.name), `${where}: ${error.code}`, error);
  }

  const fault = isFault(error) ? error : crashOf(at.node, error);
  const nowMs = ports.clock.nowMs();
  if (fault instanceof OperationUnknown)
    await waitForLedger(at, "resolution", String(fault.facts["operation_id"]), ports, fault);
  const attempts = await ports.log.noteFailure({
    run_id: at.run.run_id,
    position: at.position,
    node: at.node.name,
    error: fault.toRecord(),
    updated_at: isoTime(nowMs),
    ...(fault.notBeforeMs !== undefined && { not_before: isoTime(fault.notBeforeMs) }),
  });
  count(at, fault, ports);
  ports.logger.warn("node failed", {
    run_id: at.run.run_id,
    workflow_id: at.run.workflow_id,
    workflow_version: at.run.workflow_version,
    position: at.position,
    code: fault.code,
    failure_class: fault.failureClass,
    attempts,
  });
  return new WireFault(
    nameOf(at.node.name, fault),
    `${where}: ${fault.code}; surefoot trace ${at.run.run_id} says more`,
    fault,
  );
}

function nameOf(node: string, fault: Fault): string {
  if (fault.code === "call_timeout") return wireError.timeout(node);
  if (fault.code === crashCode) return wireError.crashed;
  if (fault.code === "retry_exhausted") return wireError.exhausted(node);
  switch (fault.failureClass) {
    case "retryable":
      return wireError.retryable(node);
    case "final":
      return wireError.final(node);
    case "unknown":
      return wireError.unknown(node);
    default:
      return fault.failureClass satisfies never;
  }
}

const crashCode = "node_crashed";

/** A crash nobody classified: a storage error, or a bug here. What may have happened outside is the ledger's to say, so a repeat is safe. */
const crashOf = (node: AgentNode, error: unknown): Fault =>
  new Fault(
    crashCode,
    "retryable",
    `node ${node.name} crashed: ${error instanceof Error ? error.message : String(error)}`,
    { cause: error },
  );

function count(at: NodePlace, fault: Fault, ports: RunPorts): void {
  const dimensions = { agent: at.run.agent, node: at.node.name };
  if (fault instanceof ReplayContractError) ports.metrics.add("workflow_version_mismatch_total", dimensions);
  else if (fault.failureClass === "final") ports.metrics.add("non_retryable_failure_total", dimensions);
  else if (fault.failureClass === "retryable" && at.node.kind !== "write")
    ports.metrics.add("activity_retry_total", dimensions);
}
