import type { ApprovalNode, State, WriteNode } from "../agent/node.ts";
import type { ApprovalOutcome } from "../approval/approval.ts";
import type { CodeNow } from "../approval/check-approval.ts";
import type { Ledger, OperationRequest } from "../ledger/ledger.ts";
import type { LedgerEntry } from "../ledger/ledger-entry.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";
import type { DeliveryQueue } from "../ports/delivery-queue.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { Position } from "../runlog/position.ts";
import type { RunRecord } from "../runlog/run-record.ts";
import type { Fault } from "../faults/fault.ts";
import type { Waiter } from "../waiter/waiter.ts";

/** An approval of a write, with its latest outcome. */
export interface Guard {
  readonly node: ApprovalNode;
  readonly outcome: ApprovalOutcome;
  /** The question that was answered, as it is now; undefined where nobody was asked. */
  readonly waiter: Waiter | undefined;
  readonly now: CodeNow;
}

/** One write node about to be executed, in one invocation. */
export interface OperationCall {
  readonly run: RunRecord;
  readonly node: WriteNode;
  readonly position: Position;
  readonly state: State;
  /** The approvals that guard the node and have an outcome, in order of definition. */
  readonly approvals: readonly Guard[];
  /** Whether a failed check has somewhere to go back to. */
  readonly guarded: boolean;
  /** When Lambda kills this invocation, epoch milliseconds. */
  readonly killedAtMs: number;
  /** Who dispatches: the run's own line, or the worker of a queue. */
  readonly dispatcher: "run" | "worker";
  /** The pinned function that runs this, so that the sweep can have the run's own code look into the operation. */
  readonly functionArn: string | undefined;
}

export interface OperationPorts {
  readonly ledger: Ledger;
  readonly payloads: PayloadStore;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Strongly consistent, asked right before a claim: a cancelled run starts nothing. */
  readonly readRun: (runId: string) => Promise<RunRecord | undefined>;
  /** Ends the process once a call ignored its abort: thawed for the next invocation it would finish as a zombie. */
  readonly endProcess: () => void;
  readonly queue: DeliveryQueue;
}

/** What Prepare hands to Execute: the claim, and exactly what will be sent. */
export interface Claim {
  readonly entry: LedgerEntry;
  readonly request: unknown;
}

/** What an attempt came to. */
export type AttemptOutcome =
  | { readonly kind: "succeeded"; readonly result: unknown }
  /** This attempt certainly did not happen. */
  | { readonly kind: "failed"; readonly fault: Fault }
  /** It may have happened. */
  | { readonly kind: "in_doubt"; readonly fault: Fault; readonly unsettled: boolean };

/** The identity of the operation and its request, before anything is read. */
export interface PreparedRequest {
  readonly operation: OperationRequest;
  readonly request: unknown;
}

/** The dimensions under which an operation's metrics are counted. */
export const dimensionsOf = (call: OperationCall) => ({ agent: call.run.agent, node: call.node.tool.name });

/** The ids on every log line about an operation. */
export const logContextOf = (call: OperationCall, operationId: string) => ({
  run_id: call.run.run_id,
  workflow_id: call.run.workflow_id,
  workflow_version: call.run.workflow_version,
  position: call.position,
  operation_id: operationId,
});
