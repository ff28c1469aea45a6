import { wireError } from "../compile/wire-errors.ts";
import { StaleExecution } from "../faults/faults.ts";
import { WireFault } from "../faults/wire-fault.ts";
import type { RunHistory } from "../runlog/run-log.ts";
import { isOpen, type RunRecord } from "../runlog/run-record.ts";
import type { RunPorts } from "./ports.ts";

/** Which execution works on which run. */
export interface Owner {
  readonly runId: string;
  readonly execution: string;
}

/** The run's history, read consistently, if this execution still owns it. @throws WireFault `surefoot.stale` */
export async function readOwned(owner: Owner, ports: RunPorts): Promise<RunHistory> {
  const history = await ports.log.read(owner.runId);
  refuseLost(owner, history?.run);
  if (!history) throw new RangeError("a run that is owned has a history");
  return history;
}

/** @throws WireFault `surefoot.stale` when another execution owns the run, or it has ended: a cancelled run starts nothing. */
export function refuseLost({ runId, execution }: Owner, run: RunRecord | undefined): asserts run is RunRecord {
  const problem = !run
    ? "there is no such run"
    : run.execution !== execution
      ? `${run.execution} owns it now`
      : isOpen(run.status)
        ? undefined
        : `it is ${run.status}`;
  if (problem === undefined) return;
  const fault = new StaleExecution(runId, execution, problem);
  throw new WireFault(wireError.stale, fault.message, fault);
}

/** A run that goes on is RUNNING again. */
export async function wakeUp({ run }: RunHistory, ports: RunPorts): Promise<void> {
  if (run.status !== "RUNNING") await ports.log.change(run, ["WAITING", "PARKED"], { status: "RUNNING" });
}
