import type { Fault, FaultRecord } from "../faults/fault.ts";
import { type Clock, isoTime } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { PackedValue } from "../payloads/claim-check.ts";
import type { LedgerEntry, OperationStatus, Resolution } from "./ledger-entry.ts";
import type { EntryWrite, LedgerStore } from "./ledger-store.ts";
import { type EntryPatch, nextEntry, type TransitionName, transitions } from "./ledger-transitions.ts";

/** What is known of an operation before its first write. */
export type OperationRequest = Pick<
  LedgerEntry,
  | "operation_id"
  | "run_id"
  | "workflow_id"
  | "agent"
  | "action_name"
  | "business_key"
  | "position"
  | "function_arn"
  | "delivery"
  | "request"
  | "request_hash"
  | "tool_version"
  | "risk"
  | "capability"
>;

/** A success as the other side gave it. */
export interface Success {
  readonly result: PackedValue;
  readonly responseHash: string;
  readonly externalRef: string | undefined;
}

/** What a person says of an operation, and on what evidence. */
export interface PersonsWord {
  readonly outcome: "succeeded" | "failed" | "retry";
  readonly by: string;
  readonly evidence: string;
  readonly externalRef: string | undefined;
  /** What the tool would have answered, where a reference alone does not say it. */
  readonly result: PackedValue | undefined;
}

/** How a success was recorded. `late` and `second` contradict what was recorded before them and are shown. */
export interface Committed {
  readonly entry: LedgerEntry;
  readonly how: "committed" | "same" | "late" | "second";
}

/** The verbs of the ledger. Each is one conditional write; `held: false` carries what another writer left there. */
export interface Ledger {
  read(operationId: string): Promise<LedgerEntry | undefined>;
  listByRun(runId: string): Promise<readonly LedgerEntry[]>;
  /** Writes the request as PENDING, or replaces a PENDING one (`found`). */
  propose(request: OperationRequest, found: LedgerEntry | undefined): Promise<EntryWrite>;
  /** Hands out the next attempt of one that failed: PENDING with the same frozen request. */
  requeue(found: LedgerEntry): Promise<EntryWrite>;
  /** Claims one attempt until `leaseUntilMs`. Precondition: that is no earlier than the moment the process is certainly dead. */
  claim(request: OperationRequest, found: LedgerEntry | undefined, leaseUntilMs: number): Promise<EntryWrite>;
  /** Claims the next attempt of an operation in doubt, with the same key and the same frozen request. */
  reclaim(found: LedgerEntry, leaseUntilMs: number): Promise<EntryWrite>;
  /** Records a success of the attempt that holds `claimed`. A success always counts, whatever was decided meanwhile. */
  commit(claimed: LedgerEntry, success: Success): Promise<Committed>;
  /** Records a definite failure of the attempt: it did not happen. Precondition: no earlier attempt may have applied. */
  fail(claimed: LedgerEntry, fault: Fault): Promise<EntryWrite>;
  /** Ends the attempt in doubt, leaving it to be reconciled: the lease ends at `inFlightUntilMs`. */
  release(claimed: LedgerEntry, fault: Fault, inFlightUntilMs: number): Promise<EntryWrite>;
  /** Ends the attempt in doubt that nothing can clear but a person. */
  doubt(claimed: LedgerEntry, fault: Fault): Promise<EntryWrite>;
  /** A person's word: final, and one write. `held: false` when the entry is no longer the one they looked at. */
  resolve(found: LedgerEntry, word: PersonsWord): Promise<EntryWrite>;
  /** Starts the budget of attempts anew, where it did not happen and the cause was mended. */
  grant(found: LedgerEntry): Promise<EntryWrite>;
  /** Gives a compensation that failed for good another budget of attempts. */
  reopen(found: LedgerEntry): Promise<EntryWrite>;
  /** Sees to it that what did not happen never does: whoever was about to claim it finds it failed for good. */
  withdraw(found: LedgerEntry, fault: Fault): Promise<EntryWrite>;
  reconcileSucceeded(found: LedgerEntry, success: Success, evidence: string): Promise<EntryWrite>;
  reconcileAbsent(found: LedgerEntry, evidence: string): Promise<EntryWrite>;
  reconcileUnknown(found: LedgerEntry, fault: Fault): Promise<EntryWrite>;
}

export interface LedgerOptions {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Times a late success is written again when others keep changing the entry: each loss means another writer moved it. */
const commitAttemptsMax = 10;

export function createLedger({ store, clock, ids }: LedgerOptions): Ledger {
  const now = () => isoTime(clock.nowMs());

  async function move(from: LedgerEntry, name: TransitionName, patch: EntryPatch): Promise<EntryWrite> {
    const next = nextEntry(from, name, patch, { at: now(), writeId: ids.next() });
    return store.replace(next, {
      status: from.status,
      version: from.version,
      attemptToken: transitions[name].owner ? from.attempt_token : undefined,
    });
  }

  const fresh = (request: OperationRequest): LedgerEntry => ({
    ...request,
    status: "PENDING",
    attempt: 0,
    may_have_applied: false,
    created_at: now(),
    updated_at: now(),
    version: 1,
    write_id: ids.next(),
  });

  const resolved = (outcome: Resolution["outcome"], evidence: string): Resolution => ({
    outcome,
    by: "reconciler",
    evidence,
    at: now(),
  });

  const succeeded = ({ result, responseHash, externalRef }: Success): EntryPatch => ({
    result,
    response_hash: responseHash,
    external_ref: externalRef,
    committed_at: now(),
    may_have_applied: true,
    error: undefined,
    not_before: undefined,
  });

  const attempt = (found: LedgerEntry, leaseUntilMs: number): EntryPatch => ({
    attempt: found.attempt + 1,
    attempt_token: ids.next(),
    lease_until: isoTime(leaseUntilMs),
    first_sent_at: found.first_sent_at ?? now(),
    not_before: undefined,
    error: undefined,
  });

  return {
    read: (operationId) => store.read(operationId),
    listByRun: (runId) => store.listByRun(runId),

    propose: (request, found) => (found ? move(found, "propose", request) : store.create(fresh(request))),

    requeue: (found) => move(found, "requeue", { not_before: undefined }),

    claim(request, found, leaseUntilMs) {
      if (found) return move(found, "claim", { ...request, ...attempt(found, leaseUntilMs) });
      const entry = fresh(request);
      return store.create({ ...entry, ...definedOf(attempt(entry, leaseUntilMs)), status: "STARTED" });
    },

    reclaim: (found, leaseUntilMs) =>
      move(found, "reclaim", { ...attempt(found, leaseUntilMs), may_have_applied: true }),

    async commit(claimed, success) {
      const own = await move(claimed, "commit", succeeded(success));
      if (own.held) return { entry: own.entry, how: "committed" };
      let found = own.entry;
      for (let tries = 0; tries < commitAttemptsMax; tries++) {
        const again = found.status === "SUCCEEDED" ? await second(found, success) : await late(found, success);
        if (again !== "moved") return again;
        found = (await store.read(claimed.operation_id)) ?? found;
      }
      throw new Error(
        `operation ${claimed.operation_id} changed ${commitAttemptsMax} times while its success was written`,
      );
    },

    fail: (claimed, fault) =>
      move(claimed, fault.failureClass === "final" ? "failFinal" : "failRetryable", {
        error: fault.toRecord(),
        lease_until: undefined,
        not_before: fault.notBeforeMs === undefined ? undefined : isoTime(fault.notBeforeMs),
      }),

    release: (claimed, fault, inFlightUntilMs) =>
      move(claimed, "release", {
        error: fault.toRecord(),
        may_have_applied: true,
        lease_until: isoTime(inFlightUntilMs),
        not_before: fault.notBeforeMs === undefined ? undefined : isoTime(fault.notBeforeMs),
      }),

    doubt: (claimed, fault) => move(claimed, "doubt", inDoubt(fault.toRecord())),

    resolve: (found, word) => move(found, transitionOf[word.outcome], resolvedBy(found, word)),
    grant: (found) => move(found, "grant", { attempts_granted: found.attempt, not_before: undefined }),
    reopen: (found) => move(found, "reopen", { attempts_granted: found.attempt, not_before: undefined }),
    withdraw: (found, fault) => move(found, "withdraw", { error: fault.toRecord(), not_before: undefined }),

    reconcileSucceeded: (found, success, evidence) =>
      move(found, "reconcileSucceeded", { ...succeeded(success), resolution: resolved("SUCCEEDED", evidence) }),
    reconcileAbsent: (found, evidence) =>
      move(found, "reconcileAbsent", {
        may_have_applied: false,
        lease_until: undefined,
        // The key was never used: the next attempt's window starts anew.
        first_sent_at: undefined,
        resolution: resolved("FAILED_RETRYABLE", evidence),
      }),
    reconcileUnknown: (found, fault) => move(found, "reconcileUnknown", inDoubt(fault.toRecord())),
  };

  function resolvedBy(found: LedgerEntry, word: PersonsWord): EntryPatch {
    const resolution: Resolution = {
      outcome: transitions[transitionOf[word.outcome]].to,
      by: word.by,
      evidence: word.evidence,
      at: now(),
    };
    switch (word.outcome) {
      case "succeeded":
        return {
          resolution,
          external_ref: word.externalRef,
          result: word.result,
          committed_at: now(),
          may_have_applied: true,
          error: undefined,
        };
      case "retry":
        return {
          resolution,
          may_have_applied: false,
          attempts_granted: found.attempt,
          first_sent_at: undefined,
          lease_until: undefined,
          not_before: undefined,
        };
      case "failed":
        return { resolution, may_have_applied: false, lease_until: undefined };
      default:
        return word.outcome satisfies never;
    }
  }

  async function late(found: LedgerEntry, success: Success): Promise<Committed | "moved"> {
    const contradicts = saysItDidNotHappen.includes(found.status);
    const contradiction = {
      kind: "late_success" as const,
      status_then: found.status,
      external_ref: success.externalRef,
      response_hash: success.responseHash,
      at: now(),
    };
    const written = await move(found, "commitLate", {
      ...succeeded(success),
      ...(contradicts && { contradictions: [...(found.contradictions ?? []), definedOf(contradiction)] }),
    });
    if (!written.held) return "moved";
    return { entry: written.entry, how: contradicts ? "late" : "committed" };
  }

  async function second(found: LedgerEntry, success: Success): Promise<Committed | "moved"> {
    const same =
      success.externalRef === undefined
        ? found.response_hash === success.responseHash
        : found.external_ref === success.externalRef;
    if (same) return { entry: found, how: "same" };
    const contradiction = definedOf({
      kind: "second_success" as const,
      status_then: found.status,
      external_ref: success.externalRef,
      response_hash: success.responseHash,
      at: now(),
    });
    const written = await move(found, "noteSecondSuccess", {
      contradictions: [...(found.contradictions ?? []), contradiction],
    });
    return written.held ? { entry: written.entry, how: "second" } : "moved";
  }
}

/** STARTED and UNKNOWN leave open whether it happened: a late success answers them, and contradicts nothing. */
const saysItDidNotHappen: readonly OperationStatus[] = ["PENDING", "FAILED_RETRYABLE", "FAILED_FINAL"];

const transitionOf = { succeeded: "resolveSucceeded", failed: "resolveFailed", retry: "resolveRetry" } as const;

const inDoubt = (error: FaultRecord): EntryPatch => ({ error, may_have_applied: true, lease_until: undefined });

/** The same object without its undefined members. */
const definedOf = <T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
