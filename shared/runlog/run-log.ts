import type { Superseded, Vote } from "../approval/approval.ts";
import type { FaultRecord } from "../faults/fault.ts";
import type { PackedValue } from "../payloads/claim-check.ts";
import type { OpenCursor, OpenPage } from "../tables/table-schema.ts";
import type { Waiter } from "../waiter/waiter.ts";
import type { NodeFailure } from "./node-failure.ts";
import type { Position } from "./position.ts";
import type { RunRecord, RunStatus } from "./run-record.ts";
import type { Step } from "./step.ts";

/** Everything recorded about one run, read consistently, steps in order of position. */
export interface RunHistory {
  readonly run: RunRecord;
  readonly steps: readonly Step[];
  readonly waiters: readonly Waiter[];
  readonly failures: readonly NodeFailure[];
}

/** `written` is false when another writer was first; `record` is then the winner's. */
export interface Appended<T> {
  readonly written: boolean;
  readonly record: T;
}

export interface RunSummary {
  readonly run_id: string;
  readonly agent: string;
  readonly workflow_id: string;
  readonly workflow_version: number;
  readonly status: RunStatus;
  readonly waiting_for?: string | undefined;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Where a waiter lies, as its index says it. */
export interface WaiterKey {
  readonly run_id: string;
  readonly position: string;
}

export type RunChange = Partial<
  Pick<
    RunRecord,
    | "status"
    | "outcome"
    | "waiting_for"
    | "failure"
    | "compensation"
    | "execution"
    | "execution_attempt"
    | "moving_to"
    | "retired"
    | "state_machine_arn"
    | "workflow_version"
    | "contract_digest"
    | "compatible_with"
  >
>;

/** The store of where to resume from. Every write is one conditional item write; a lost acknowledgement is read back, not repeated. */
export interface RunLog {
  /** Creates the run unless the workflow has an open one; returns the run that owns the workflow now. `mayFollow` says whether a new run may follow an ended one. */
  open(run: RunRecord, mayFollow: boolean): Promise<Appended<RunRecord>>;
  /** Creates a run beside the one that its workflow has. First writer wins. */
  openFork(run: RunRecord): Promise<Appended<RunRecord>>;
  read(runId: string): Promise<RunHistory | undefined>;
  readRun(runId: string): Promise<RunRecord | undefined>;
  readStep(runId: string, position: Position): Promise<Step | undefined>;
  /** First writer wins; the loser gets the winner's record. */
  append(step: Step): Promise<Appended<Step>>;
  /** Changes the run while `execution` owns it and its status is one of `from`. @returns whether the change holds. */
  change(run: RunRecord, from: readonly RunStatus[], change: RunChange): Promise<boolean>;
  /** Counts a failed attempt of a node. @returns attempts so far. */
  noteFailure(failure: Omit<NodeFailure, "attempts" | "error"> & { readonly error: FaultRecord }): Promise<number>;
  /** First writer wins; a waiter that the ledger answers replaces an answered one. */
  putWaiter(waiter: Waiter): Promise<Appended<Waiter>>;
  readWaiter(runId: string, position: Position): Promise<Waiter | undefined>;
  /** Leaves the token of the newest execution; an answered waiter is open again. @returns false when a newer execution holds the wait. */
  registerToken(runId: string, position: Position, taskToken: string, executionAttempt: number): Promise<boolean>;
  /** Marks the waiter answered, unless somebody else waits there by now: they were not told. @returns whether it was open, and is closed. */
  closeWaiter(told: Waiter, answeredAt: string): Promise<boolean>;
  /** Adds one person's yes to an open approval: a person once, `quorum` in all. @returns whether it was added, and the waiter as it is then. */
  addVote(waiter: Waiter, person: string, vote: Vote, quorum: number): Promise<Appended<Waiter>>;
  /** Marks an approval that counts no more. First writer wins. */
  supersede(waiter: WaiterKey, superseded: Superseded): Promise<void>;
  listOpenWaiters(): Promise<readonly Waiter[]>;
  /** Approvals of one agent, decided or not, newest first. */
  listApprovals(filter: {
    readonly agent: string;
    readonly limit: number;
    readonly requestedBefore?: string | undefined;
  }): Promise<readonly WaiterKey[]>;
  listRuns(filter: { readonly agent: string; readonly limit: number }): Promise<readonly RunSummary[]>;
  listRunsOfWorkflow(workflowId: string): Promise<readonly RunSummary[]>;
  listOpenRuns(): Promise<readonly RunSummary[]>;
  /** A page of the runs that are open, from where `after` stopped. */
  pageOpenRuns(limit: number, after?: OpenCursor): Promise<OpenPage<Pick<RunSummary, "run_id">>>;
  /** Keeps what runs rely on, under its digest; one that is kept stays. `pack` is asked only where it is not there. */
  keepContract(digest: string, pack: () => Promise<PackedValue>): Promise<void>;
  readContract(digest: string): Promise<PackedValue | undefined>;
  /** A page of the waiters nobody has told yet, from where `after` stopped. */
  pageOpenWaiters(limit: number, after?: OpenCursor): Promise<OpenPage<WaiterKey>>;
}
