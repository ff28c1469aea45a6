import type { LedgerEntry } from "../../../shared/ledger/ledger-entry.ts";
import type { ExpectedEntry, LedgerStore } from "../../../shared/ledger/ledger-store.ts";

/**
 * The ledger's store without a table, for explorations that write a million times. It has the conditions of the real one and is held to
 * the same contract: `ledger-store-contract.test.ts`. What a drill does not ask (indexes) it does not have.
 */
export function memoryLedgerStore(): LedgerStore & { peek(operationId: string): LedgerEntry | undefined } {
  const entries = new Map<string, LedgerEntry>();
  const isAsExpected = (found: LedgerEntry | undefined, expected: ExpectedEntry): boolean =>
    found?.status === expected.status &&
    found.version === expected.version &&
    (expected.attemptToken === undefined || found.attempt_token === expected.attemptToken);
  const noIndex = () => Promise.reject(new Error("the store in memory has no index"));
  return {
    peek: (operationId) => entries.get(operationId),
    read: (operationId) => Promise.resolve(entries.get(operationId)),
    create(entry) {
      const found = entries.get(entry.operation_id);
      if (!found) entries.set(entry.operation_id, entry);
      return Promise.resolve({ held: !found || found.write_id === entry.write_id, entry: found ?? entry });
    },
    replace(entry, expected) {
      const found = entries.get(entry.operation_id);
      if (isAsExpected(found, expected)) entries.set(entry.operation_id, entry);
      const stored = entries.get(entry.operation_id);
      if (!stored) return Promise.reject(new Error(`there is no operation ${entry.operation_id}`));
      return Promise.resolve({ held: stored.write_id === entry.write_id, entry: stored });
    },
    listByRun: noIndex,
    listOpen: noIndex,
    pageOpen: noIndex,
  };
}
