import { Fault } from "../faults/fault.ts";
import type { LedgerEntry, OperationStatus } from "./ledger-entry.ts";

interface Transition {
  readonly from: readonly (OperationStatus | "absent")[];
  readonly to: OperationStatus;
  /** Only the attempt whose token is stored may make it. */
  readonly owner: boolean;
}

/** Every way an entry may change. A write that is not in this table does not exist. */
export const transitions = {
  /** The request before anything is sent; an approval that supersedes an older one replaces it. */
  propose: { from: ["absent", "PENDING"], to: "PENDING", owner: false },
  /** It did not happen, and its next attempt is handed out: on its way again. */
  requeue: { from: ["FAILED_RETRYABLE"], to: "PENDING", owner: false },
  claim: { from: ["absent", "PENDING", "FAILED_RETRYABLE"], to: "STARTED", owner: false },
  /** The next attempt of an operation in doubt, with the same key, after the lease lapsed. */
  reclaim: { from: ["STARTED"], to: "STARTED", owner: false },
  /** The attempt ended in doubt and can be reconciled: its lease ends now. */
  release: { from: ["STARTED"], to: "STARTED", owner: true },
  commit: { from: ["STARTED"], to: "SUCCEEDED", owner: true },
  failRetryable: { from: ["STARTED"], to: "FAILED_RETRYABLE", owner: true },
  failFinal: { from: ["STARTED"], to: "FAILED_FINAL", owner: true },
  doubt: { from: ["STARTED"], to: "UNKNOWN", owner: true },
  /** Reconciliation of a lapsed attempt, by whoever finds it. */
  reconcileSucceeded: { from: ["STARTED", "UNKNOWN"], to: "SUCCEEDED", owner: false },
  reconcileAbsent: { from: ["STARTED", "UNKNOWN"], to: "FAILED_RETRYABLE", owner: false },
  reconcileUnknown: { from: ["STARTED"], to: "UNKNOWN", owner: false },
  /** A person's word on what nobody could find out, or on what was theirs to do. */
  resolveSucceeded: { from: ["PENDING", "UNKNOWN"], to: "SUCCEEDED", owner: false },
  resolveRetry: { from: ["UNKNOWN"], to: "FAILED_RETRYABLE", owner: false },
  resolveFailed: { from: ["PENDING", "UNKNOWN"], to: "FAILED_FINAL", owner: false },
  /** An operator mended the cause: the budget of attempts starts anew. */
  grant: { from: ["FAILED_RETRYABLE"], to: "FAILED_RETRYABLE", owner: false },
  /** Its run is compensated: what did not happen must not happen any more. */
  withdraw: { from: ["PENDING", "FAILED_RETRYABLE"], to: "FAILED_FINAL", owner: false },
  /** A compensation that failed for good is still owed: an operator mended the cause. */
  reopen: { from: ["FAILED_FINAL"], to: "FAILED_RETRYABLE", owner: false },
  /** An attempt that lost its claim and did succeed. It always counts. */
  commitLate: {
    from: ["PENDING", "STARTED", "FAILED_RETRYABLE", "FAILED_FINAL", "UNKNOWN"],
    to: "SUCCEEDED",
    owner: false,
  },
  /** A success beside another one: kept as a contradiction. */
  noteSecondSuccess: { from: ["SUCCEEDED"], to: "SUCCEEDED", owner: false },
} as const satisfies Record<string, Transition>;

export type TransitionName = keyof typeof transitions;

/** What a transition sets. `undefined` clears an optional attribute. */
export type EntryPatch = {
  readonly [
    K in Exclude<keyof LedgerEntry, "operation_id" | "status" | "version" | "write_id" | "updated_at" | "created_at">
  ]?: LedgerEntry[K] | undefined;
};

/** The states a transition may leave, as a set to ask. */
export const leaves = (name: TransitionName, status: OperationStatus | "absent"): boolean =>
  (transitions[name].from as readonly (OperationStatus | "absent")[]).includes(status);

/**
 * The entry after `name`. Pure; the store writes it only if the entry is still `from`.
 * @throws Fault `illegal_transition` when the table does not have it: a bug here, not a race.
 */
export function nextEntry(
  from: LedgerEntry,
  name: TransitionName,
  patch: EntryPatch,
  stamp: { readonly at: string; readonly writeId: string },
): LedgerEntry {
  if (!leaves(name, from.status)) {
    throw new Fault(
      "illegal_transition",
      "final",
      `operation ${from.operation_id} is ${from.status}; ${name} leaves ${transitions[name].from.join(", ")} only`,
      { facts: { operation_id: from.operation_id, status: from.status, transition: name } },
    );
  }
  const changed = { ...from, ...patch, status: transitions[name].to, updated_at: stamp.at, write_id: stamp.writeId };
  const present = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined));
  return { ...(present as LedgerEntry), version: from.version + 1 };
}
