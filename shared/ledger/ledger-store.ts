import type { OpenCursor, OpenPage } from "../tables/table-schema.ts";
import type { LedgerEntry, OperationStatus } from "./ledger-entry.ts";

/** The state a write leaves: the exact entry version it was decided on. `attemptToken` where the attempt must own it. */
export interface ExpectedEntry {
  readonly status: OperationStatus;
  readonly version: number;
  readonly attemptToken?: string | undefined;
}

/** `held` is false when the entry was not as expected; `entry` is what is stored now. */
export interface EntryWrite {
  readonly held: boolean;
  readonly entry: LedgerEntry;
}

/** Where operations lie. Two conditional writes and consistent reads; the meaning is in `ledger.ts`. */
export interface LedgerStore {
  /** Strongly consistent. */
  read(operationId: string): Promise<LedgerEntry | undefined>;
  create(entry: LedgerEntry): Promise<EntryWrite>;
  replace(entry: LedgerEntry, expected: ExpectedEntry): Promise<EntryWrite>;
  /** Oldest first. Eventually consistent. */
  listByRun(runId: string): Promise<readonly LedgerEntry[]>;
  /** Entries that are not settled, oldest change first. Eventually consistent. */
  listOpen(status: OperationStatus): Promise<readonly LedgerEntry[]>;
  /** A page of their ids, from where `after` stopped. */
  pageOpen(
    status: OperationStatus,
    limit: number,
    after?: OpenCursor,
  ): Promise<OpenPage<{ readonly operation_id: string }>>;
}
