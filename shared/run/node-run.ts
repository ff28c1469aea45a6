import type { Agent } from "../agent/agent.ts";
import type { State } from "../agent/node.ts";
import type { Position } from "../runlog/position.ts";
import type { RunRecord } from "../runlog/run-record.ts";

/** A node about to run, in one invocation. */
export interface NodeRun {
  readonly agent: Agent;
  readonly run: RunRecord;
  readonly position: Position;
  readonly state: State;
  /** When Lambda kills this invocation, epoch milliseconds. */
  readonly killedAtMs: number;
  readonly functionArn: string | undefined;
}
