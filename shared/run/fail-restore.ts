import { wireError } from "../compile/wire-errors.ts";
import { isFault } from "../faults/fault.ts";
import { ReplayContractError } from "../faults/faults.ts";
import { WireFault } from "../faults/wire-fault.ts";
import { isoTime } from "../ports/clock.ts";
import { nodeAt, Position } from "../runlog/position.ts";
import type { RunRecord } from "../runlog/run-record.ts";
import type { RunPorts } from "./ports.ts";

/**
 * Records why the log of a run cannot be continued by this code. Nothing runs then. `at` is where it stands. What nobody classified, e.g. a
 * storage error, says nothing about the log: it is handed on as it is, and repeated.
 */
export async function failRestore(run: RunRecord, at: Position, error: unknown, ports: RunPorts): Promise<Error> {
  if (!isFault(error)) return error instanceof Error ? error : new Error(String(error));
  const mismatch = error instanceof ReplayContractError || error.code === "version_incompatible";
  ports.metrics.add(mismatch ? "workflow_version_mismatch_total" : "checkpoint_restore_failure_total", {
    agent: run.agent,
  });
  const position = Position.safeParse(error.facts["position"]).data ?? at;
  await ports.log.noteFailure({
    run_id: run.run_id,
    position,
    node: nodeAt(position),
    error: error.toRecord(),
    updated_at: isoTime(ports.clock.nowMs()),
  });
  return new WireFault(
    wireError.final(nodeAt(position)),
    `run ${run.run_id} at ${position}: the log cannot be continued by this code`,
    error,
  );
}
