import type { LedgerStore } from "../ledger/ledger-store.ts";
import type { Notices } from "../notify/channel.ts";
import type { DeliveryQueue } from "../ports/delivery-queue.ts";
import type { Releases } from "../release/releases.ts";
import type { ResolvePorts } from "../run/resolve-operation.ts";
import type { OpenCursor } from "../tables/table-schema.ts";

/** Runs code of the version that an operation was made by. The sweep itself has none. */
export interface PinnedFunctions {
  /** Looks into one operation with its own tool: a keyed replay or a lookup, as the tool declares. */
  reconcile(functionArn: string, operationId: string): Promise<void>;
  /** Delivers one queued operation. @throws what kept it from being delivered now. */
  deliver(functionArn: string, operationId: string): Promise<void>;
}

/** What the engine knows of an execution. */
export interface ExecutionStates {
  /** False when it has ended or never was. */
  isRunning(stateMachineArn: string, execution: string): Promise<boolean>;
}

/** Where the last sweep stopped, per index, and when it ended. Two sweeps at once may overwrite each other's: then a page is read twice. */
export interface SweepState {
  readonly cursors: Readonly<Record<string, OpenCursor>>;
  readonly finishedAtMs: number | undefined;
}

export interface SweepStateStore {
  read(): Promise<SweepState>;
  write(state: SweepState): Promise<void>;
}

export type SweepPorts = ResolvePorts & {
  readonly ledgerStore: LedgerStore;
  readonly functions: PinnedFunctions;
  readonly executionStates: ExecutionStates;
  readonly sweepState: SweepStateStore;
  readonly queue: DeliveryQueue;
  readonly releases: Pick<Releases, "list">;
  /** Who is told about approvals that wait. @default nobody */
  readonly notices?: Notices;
};

/** What was done about one thing. `nothing` is the usual answer. */
export type SweepDeed = "nothing" | "reconciled" | "resent" | "woken" | "expired" | "resumed" | "retired" | "told";
