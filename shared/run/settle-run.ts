import { RecordCorrupt, StaleExecution } from "../faults/faults.ts";
import { WireFault } from "../faults/wire-fault.ts";
import { COMPENSATE } from "../compile/lines.ts";
import { wireError } from "../compile/wire-errors.ts";
import type { FaultRecord } from "../faults/fault.ts";
import type { NodeFailure } from "../runlog/node-failure.ts";
import type { RunHistory } from "../runlog/run-log.ts";
import {
  isOpen,
  openRunStatuses,
  type RunCompensation,
  type RunFailure,
  type RunRecord,
  type RunStatus,
} from "../runlog/run-record.ts";
import { END } from "../runlog/step.ts";
import { beginCompensation } from "./begin-compensation.ts";
import { nextMoveAfter } from "./next-move.ts";
import type { RunPorts } from "./ports.ts";

/** Final failures that a fix and a resume do mend: the run is parked, not failed. */
const mendable = new Set([
  "steps_exhausted",
  "replay_contract",
  "record_corrupt",
  "agent_code",
  "payload_missing",
  "migration_failed",
  "version_incompatible",
  "version_retired",
  "not_simulated",
]);

export interface Settled {
  readonly run_id: string;
  readonly status: RunStatus;
  /** Where the states go that can compensate: there, or to their end. */
  readonly next: typeof COMPENSATE | typeof END;
}

/**
 * Records why an execution stopped: PARKED where a person can mend and resume, FAILED where nothing will. Where its states can compensate
 * (`mayCompensate`), a run that fails takes back what it has done before. What stops a compensation parks it.
 * @throws WireFault `surefoot.stale` when the execution no longer owns the run.
 */
export async function settleRun(
  runId: string,
  execution: string,
  wireName: string,
  ports: RunPorts,
  mayCompensate = false,
): Promise<Settled> {
  const { run, failure } = (await look(runId, wireName, ports)) ?? {};
  if (!run || !failure || run.execution !== execution || !isOpen(run.status)) {
    const fault = new StaleExecution(runId, execution, "another execution owns the run, or it has ended");
    throw new WireFault(wireError.stale, fault.message, fault);
  }
  // Told so before, by an invocation that died: nothing but the compensation goes on.
  if (run.compensation && mayCompensate) return { run_id: runId, status: run.status, next: COMPENSATE };
  const final = failure.error.failure_class === "final" && !mendable.has(failure.error.code);
  const failed = final && !run.compensation;
  // What was simulated never happened.
  const compensates = failed && mayCompensate && !run.simulated;
  const status: RunStatus = compensates ? "RUNNING" : failed ? "FAILED" : "PARKED";
  if (compensates) {
    const ends = { status: "FAILED", outcome: "failed", failure } as const;
    await beginCompensation(run, { because: "failed", ends }, ports);
  } else {
    await ports.log.change(run, openRunStatuses, { status, failure, ...(failed && { outcome: "failed" }) });
  }
  ports.logger.error("run stopped", {
    run_id: runId,
    workflow_id: run.workflow_id,
    workflow_version: run.workflow_version,
    position: failure.position,
    code: failure.error.code,
    status,
  });
  // What is final was never a matter of retries; an operation's own budget is counted where it ends.
  if (failure.error.failure_class !== "final" && failure.error.code !== "retry_exhausted")
    ports.metrics.add("retry_exhausted_total", { agent: run.agent, node: failure.node });
  return { run_id: runId, status, next: compensates ? COMPENSATE : END };
}

interface Stopped {
  readonly run: RunRecord;
  readonly failure: RunFailure;
}

/** The run and why it stopped. A log with one unreadable record is no reason to lose the run: then that record is the reason. */
async function look(runId: string, wireName: string, { log, metrics }: RunPorts): Promise<Stopped | undefined> {
  try {
    const history = await log.read(runId);
    return history && { run: history.run, failure: failureOf(history, wireName) };
  } catch (error) {
    if (!(error instanceof RecordCorrupt)) throw error;
    const run = await log.readRun(runId);
    if (run) metrics.add("checkpoint_restore_failure_total", { agent: run.agent });
    return (
      run && { run, failure: { position: "log", node: "log", error: error.toRecord(), attempts: 0, ...mend(run) } }
    );
  }
}

const mend = ({ run_id }: RunRecord, error?: FaultRecord) => ({ next_move: nextMoveAfter(run_id, error?.code) });

/** The recorded failure that stopped the run; where the platform failed without one, the platform's word. */
function failureOf({ run, steps, failures }: RunHistory, wireName: string): RunFailure {
  const recent = failures.filter((failure) => !run.compensation || isSince(failure, run.compensation));
  const latest = recent.sort((a, b) => b.updated_at.localeCompare(a.updated_at))[0];
  const overcome = steps.some((step) => step.position === latest?.position && step.created_at >= latest.updated_at);
  const recorded = overcome ? undefined : latest;
  const last = steps.at(-1);
  const error: FaultRecord =
    recorded && wireName.startsWith("surefoot.") && wireName !== wireError.passing
      ? recorded.error
      : {
          code: "platform",
          failure_class: "unknown",
          message: `the state machine stopped with ${wireName}${recorded ? `; last recorded: ${recorded.error.message}` : ""}`,
          facts: { error: wireName },
        };
  return {
    position: recorded?.position ?? last?.position ?? "start",
    node: recorded?.node ?? (run.compensation ? "compensate" : (last?.next ?? "start")),
    error,
    attempts: recorded?.attempts ?? 0,
    ...mend(run, error),
  };
}

/** What stopped a compensation is not what began it. */
const isSince = ({ updated_at, position }: NodeFailure, { since, ends }: RunCompensation): boolean =>
  updated_at >= since && position !== ends.failure?.position;
