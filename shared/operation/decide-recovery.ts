import { attemptsSpent, type LedgerEntry } from "../ledger/ledger-entry.ts";
import type { Downstream, LookupAnswer } from "../agent/tool.ts";

/** What a re-entry does, by what the ledger says. */
export type Recovery =
  | { readonly kind: "claim" }
  | { readonly kind: "reuse"; readonly entry: LedgerEntry }
  | { readonly kind: "conflict"; readonly entry: LedgerEntry }
  | { readonly kind: "come_back"; readonly code: "operation_in_flight" | "retry_after"; readonly atMs: number }
  | { readonly kind: "reconcile"; readonly entry: LedgerEntry }
  | { readonly kind: "exhausted"; readonly entry: LedgerEntry }
  | { readonly kind: "failed"; readonly entry: LedgerEntry }
  | { readonly kind: "unknown"; readonly entry: LedgerEntry };

const timeOf = (iso: string | undefined): number => (iso === undefined ? 0 : Date.parse(iso));

/** The recovery table. Pure. The request hash is compared on every path that knows one, before anything else. */
export function decideRecovery(
  entry: LedgerEntry | undefined,
  requestHash: string,
  nowMs: number,
  attemptsMax: number,
): Recovery {
  if (entry === undefined) return { kind: "claim" };
  // A PENDING request that was never sent may be replaced by the approval that supersedes it; one on its way again may not.
  const neverSent = entry.status === "PENDING" && entry.attempt === 0;
  if (entry.request_hash !== requestHash && !neverSent) return { kind: "conflict", entry };

  const leaseUntilMs = timeOf(entry.lease_until);
  const notBeforeMs = timeOf(entry.not_before);
  switch (entry.status) {
    case "PENDING":
      return { kind: "claim" };
    case "SUCCEEDED":
      return { kind: "reuse", entry };
    case "STARTED":
      if (nowMs < leaseUntilMs) return { kind: "come_back", code: "operation_in_flight", atMs: leaseUntilMs };
      if (nowMs < notBeforeMs) return { kind: "come_back", code: "retry_after", atMs: notBeforeMs };
      return { kind: "reconcile", entry };
    case "FAILED_RETRYABLE":
      if (nowMs < notBeforeMs) return { kind: "come_back", code: "retry_after", atMs: notBeforeMs };
      return attemptsSpent(entry) < attemptsMax ? { kind: "claim" } : { kind: "exhausted", entry };
    case "FAILED_FINAL":
      return { kind: "failed", entry };
    case "UNKNOWN":
      return { kind: "unknown", entry };
    default:
      return entry.status satisfies never;
  }
}

/** How an operation in doubt may be cleared, by what its tool declares. Never a guess. */
export type Reconciliation =
  { readonly kind: "replay" } | { readonly kind: "lookup" } | { readonly kind: "unknown"; readonly why: string };

/** Part of a key's window that is not used: the other side's clock and ours differ, and the request travels. */
export const windowMarginMs = 5 * 60_000;

/** Until when the other side surely remembers the key, epoch milliseconds. Infinity where no key has an end. */
export function keyUntilMs(entry: LedgerEntry, downstream: Downstream): number {
  if (downstream.by !== "key") return Infinity;
  return timeOf(entry.first_sent_at) + downstream.windowMs - Math.min(windowMarginMs, downstream.windowMs / 10);
}

/**
 * Precondition: the entry is STARTED and its lease lapsed.
 * Within the key's window, counted from the first send, the same key is safe to send again. Past it the key is a new request.
 * `wanted` is false for a run that was called off: nobody knows whether the attempt was ever sent, and a replay that is the first to
 * arrive would start what a cancelled run must not. So its key is never sent again: the other side is asked, or else a person.
 */
export function decideReconciliation(
  entry: LedgerEntry,
  downstream: Downstream,
  nowMs: number,
  attemptsMax: number,
  wanted: boolean,
): Reconciliation {
  if (downstream.by === "none") return { kind: "unknown", why: "the other side has neither a key nor a query" };
  if (downstream.by === "key") {
    const keyStillCounts = nowMs < keyUntilMs(entry, downstream);
    const budgetLeft = attemptsSpent(entry) < attemptsMax;
    // A replay that was refused for good would be refused again, and proves nothing about the attempt before it.
    const refused = entry.error?.failure_class === "final";
    if (wanted && keyStillCounts && budgetLeft && !refused) return { kind: "replay" };
    if (downstream.lookup) return { kind: "lookup" };
    if (!wanted) {
      return {
        kind: "unknown",
        why: "its run was called off, so its key is not sent again, and the tool declares no lookup",
      };
    }
    return {
      kind: "unknown",
      why: keyStillCounts
        ? `${entry.attempt} attempt(s) ended without an answer and the tool declares no lookup`
        : "the idempotency key's window has passed and the tool declares no lookup",
    };
  }
  return { kind: "lookup" };
}

/** What the other side said when asked. */
export type LookupVerdict<R> =
  | { readonly kind: "found"; readonly result: R }
  | { readonly kind: "absent" }
  | { readonly kind: "come_back"; readonly atMs: number }
  | { readonly kind: "unknown"; readonly why: string };

/**
 * *Not found* counts only once `settleMs` has passed since the last attempt could have been in flight: a late commit is real.
 * `askedAtMs` is when the question was sent: what landed after that moment may be missing from the answer. An answer outside the type is no word.
 */
export function judgeLookup<R>(
  answer: LookupAnswer<R>,
  entry: LedgerEntry,
  askedAtMs: number,
  settleMs: number,
): LookupVerdict<R> {
  if (typeof answer === "object" && answer !== null && "found" in answer)
    return { kind: "found", result: answer.found };
  const settledAtMs = timeOf(entry.lease_until ?? entry.updated_at) + settleMs;
  if (askedAtMs < settledAtMs) return { kind: "come_back", atMs: settledAtMs };
  return answer === "not_found" ? { kind: "absent" } : { kind: "unknown", why: "the other side could not tell" };
}
