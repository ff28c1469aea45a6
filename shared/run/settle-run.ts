import { StaleExecution } from "../faults/faults.ts";
import { WireFault } from "../faults/wire-fault.ts";
import { wireError } from "../compile/wire-errors.ts";
import type { FaultRecord } from "../faults/fault.ts";
import type { RunHistory } from "../runlog/run-log.ts";
import { isOpen, type RunFailure, type RunStatus } from "../runlog/run-record.ts";
import type { RunPorts } from "./ports.ts";

/** Final failures that a fix and a resume do mend: the run is parked, not failed. */
const mendable = new Set([
  "steps_exhausted",
  "replay_contract",
  "record_corrupt",
  "restore_failed",
  "agent_code",
  "payload_missing",
]);

/**
 * Records why an execution stopped: PARKED where a person can mend and resume, FAILED where nothing will.
 * @throws WireFault `surefoot.stale` when the execution no longer owns the run.
 */
export async function settleRun(
  runId: string,
  execution: string,
  wireName: string,
  ports: RunPorts,
): Promise<{ readonly run_id: string; readonly status: RunStatus }> {
  const history = await ports.log.read(runId);
  if (!history || history.run.execution !== execution || !isOpen(history.run.status)) {
    const fault = new StaleExecution(runId, execution, "another execution owns the run, or it has ended");
    throw new WireFault(wireError.stale, fault.message, fault);
  }
  const failure = failureOf(history, wireName);
  const failed = failure.error.failure_class === "final" && !mendable.has(failure.error.code);
  const status: RunStatus = failed ? "FAILED" : "PARKED";
  await ports.log.change(history.run, ["RUNNING", "WAITING", "PARKED"], {
    status,
    failure,
    ...(failed && { outcome: "failed" }),
  });
  ports.logger.error("run stopped", {
    run_id: runId,
    workflow_id: history.run.workflow_id,
    workflow_version: history.run.workflow_version,
    position: failure.position,
    code: failure.error.code,
    status,
  });
  // What is final was never a matter of retries; an operation's own budget is counted where it ends.
  if (failure.error.failure_class !== "final" && failure.error.code !== "retry_exhausted")
    ports.metrics.add("retry_exhausted_total", { agent: history.run.agent, node: failure.node });
  return { run_id: runId, status };
}

/** The recorded failure that stopped the run; where the platform failed without one, the platform's word. */
function failureOf({ run, steps, failures }: RunHistory, wireName: string): RunFailure {
  const latest = [...failures].sort((a, b) => b.updated_at.localeCompare(a.updated_at))[0];
  const overcome = steps.some((step) => step.position === latest?.position && step.created_at >= latest.updated_at);
  const recorded = overcome ? undefined : latest;
  const last = steps.at(-1);
  const error: FaultRecord =
    recorded && wireName.startsWith("surefoot.")
      ? recorded.error
      : {
          code: "platform",
          failure_class: "unknown",
          message: `the state machine stopped with ${wireName}${recorded ? `; last recorded: ${recorded.error.message}` : ""}`,
          facts: { error: wireName },
        };
  return {
    position: recorded?.position ?? last?.position ?? "start",
    node: recorded?.node ?? last?.next ?? "start",
    error,
    attempts: recorded?.attempts ?? 0,
    next_move: `surefoot trace ${run.run_id}; mend the cause, then surefoot resume ${run.run_id}`,
  };
}
