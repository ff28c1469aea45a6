import { COMPENSATE } from "../compile/lines.ts";
import { positionAfter, positionAt, type Position } from "../runlog/position.ts";
import type { RunHistory } from "../runlog/run-log.ts";
import type { RunRecord } from "../runlog/run-record.ts";
import { END } from "../runlog/step.ts";

/** The last recorded step, from which a line walks on, and the node whose line to enter. */
export function placeOf({ run, steps }: RunHistory): { readonly position: Position; readonly node: string } {
  if (run.compensation) return enterCompensation(run);
  const last = steps.at(-1);
  if (!last) return { position: positionAt(0, run.entry), node: run.entry };
  return { position: last.position, node: last.next === END ? last.node : last.next };
}

/** Where an execution enters that compensates. The ledger says what is left, so that it is the same whenever it is started. */
export const enterCompensation = ({ entry }: Pick<RunRecord, "entry">) => ({
  position: positionAt(0, entry),
  node: COMPENSATE,
});

/** Where the next record will stand; the last one's place where nothing comes after it. */
export function positionAhead({ run, steps }: Pick<RunHistory, "run" | "steps">): Position {
  const last = steps.at(-1);
  if (!last) return positionAt(0, run.entry);
  return last.next === END ? last.position : positionAfter(last.position, last.next);
}
