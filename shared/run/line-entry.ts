import type { Position } from "../runlog/position.ts";

/** What a Task hands in: ids only. */
export interface LineEntry {
  readonly runId: string;
  /** A position that is recorded or about to be; recorded ones are passed over. */
  readonly position: Position;
  readonly execution: string;
  /** When Lambda kills this invocation, epoch milliseconds. */
  readonly killedAtMs: number;
  /** The pinned function that runs this. */
  readonly functionArn: string | undefined;
}

/** What a Task hands out: ids only. `next` is a node of another line, `end`, `wait!` or `compensate!`. */
export interface LineExit {
  readonly run_id: string;
  readonly position: Position;
  readonly next: string;
}
