import { describe, expect, it } from "vitest";
import type { OperationStatus } from "../../../shared/ledger/ledger-entry.ts";
import { nextEntry, type TransitionName, transitions } from "../../../shared/ledger/ledger-transitions.ts";
import { anEntry, ledgerWorld } from "../../builders/ledger-world.ts";
import { localTables } from "../../builders/local-tables.ts";

const statuses: readonly OperationStatus[] = [
  "PENDING",
  "STARTED",
  "SUCCEEDED",
  "FAILED_RETRYABLE",
  "FAILED_FINAL",
  "UNKNOWN",
];

interface Row {
  readonly name: TransitionName;
  readonly from: readonly OperationStatus[];
  readonly to: OperationStatus;
  readonly owner: boolean;
}

/** DESIGN section 2, written out, and what queued attempts and compensated runs need beside it. */
const table: readonly Row[] = [
  { name: "propose", from: ["PENDING"], to: "PENDING", owner: false },
  { name: "requeue", from: ["FAILED_RETRYABLE"], to: "PENDING", owner: false },
  { name: "claim", from: ["PENDING", "FAILED_RETRYABLE"], to: "STARTED", owner: false },
  { name: "reclaim", from: ["STARTED"], to: "STARTED", owner: false },
  { name: "release", from: ["STARTED"], to: "STARTED", owner: true },
  { name: "commit", from: ["STARTED"], to: "SUCCEEDED", owner: true },
  { name: "failRetryable", from: ["STARTED"], to: "FAILED_RETRYABLE", owner: true },
  { name: "failFinal", from: ["STARTED"], to: "FAILED_FINAL", owner: true },
  { name: "doubt", from: ["STARTED"], to: "UNKNOWN", owner: true },
  { name: "reconcileSucceeded", from: ["STARTED", "UNKNOWN"], to: "SUCCEEDED", owner: false },
  { name: "reconcileAbsent", from: ["STARTED", "UNKNOWN"], to: "FAILED_RETRYABLE", owner: false },
  { name: "reconcileUnknown", from: ["STARTED"], to: "UNKNOWN", owner: false },
  { name: "resolveSucceeded", from: ["PENDING", "UNKNOWN"], to: "SUCCEEDED", owner: false },
  { name: "resolveRetry", from: ["UNKNOWN"], to: "FAILED_RETRYABLE", owner: false },
  { name: "resolveFailed", from: ["PENDING", "UNKNOWN"], to: "FAILED_FINAL", owner: false },
  { name: "grant", from: ["FAILED_RETRYABLE"], to: "FAILED_RETRYABLE", owner: false },
  { name: "withdraw", from: ["PENDING", "FAILED_RETRYABLE"], to: "FAILED_FINAL", owner: false },
  { name: "reopen", from: ["FAILED_FINAL"], to: "FAILED_RETRYABLE", owner: false },
  {
    name: "commitLate",
    from: ["PENDING", "STARTED", "FAILED_RETRYABLE", "FAILED_FINAL", "UNKNOWN"],
    to: "SUCCEEDED",
    owner: false,
  },
  { name: "noteSecondSuccess", from: ["SUCCEEDED"], to: "SUCCEEDED", owner: false },
];

const pairs = (legal: boolean) =>
  table.flatMap((row) =>
    statuses.filter((status) => row.from.includes(status) === legal).map((status) => ({ ...row, status })),
  );

const stamp = { at: "2026-09-02T13:00:00.000Z", writeId: "write-2" };

describe("the transitions of the ledger", () => {
  const tables = localTables();

  it("are these and no others", () => {
    expect(Object.keys(transitions)).toEqual(table.map(({ name }) => name));
  });

  it.each(pairs(true))("$name leaves $status for $to and holds in the table", async ({ name, status, to, owner }) => {
    const { store, given } = ledgerWorld(tables);
    const found = await given(anEntry(status));
    const next = nextEntry(found, name, {}, stamp);
    const expected = { status, version: 1, attemptToken: owner ? "token-1" : undefined };

    expect(await store.replace(next, expected)).toMatchObject({ held: true });
    expect(await store.read(found.operation_id)).toEqual({
      ...found,
      status: to,
      version: 2,
      updated_at: "2026-09-02T13:00:00.000Z",
      write_id: "write-2",
    });
  });

  it.each(pairs(false))("$name never leaves $status", ({ name, status }) => {
    expect(() => nextEntry(anEntry(status), name, {}, stamp)).toThrow(
      expect.objectContaining({ code: "illegal_transition", failureClass: "final" }),
    );
  });

  it.each(pairs(true))("$name of $status is refused when the entry has moved on", async ({ name, status }) => {
    const { store, given } = ledgerWorld(tables);
    const found = await given(anEntry(status, { version: 7 }));
    const stale = { ...found, version: 6 };

    const write = await store.replace(nextEntry(stale, name, {}, stamp), { status, version: 6 });
    expect(write).toEqual({ held: false, entry: found });
    expect(await store.read(found.operation_id)).toEqual(found);
  });

  it.each(table.filter(({ owner }) => owner))("$name is refused to another attempt's token", async ({ name }) => {
    const { store, given } = ledgerWorld(tables);
    const found = await given(anEntry("STARTED"));
    const write = await store.replace(nextEntry(found, name, {}, stamp), {
      status: "STARTED",
      version: 1,
      attemptToken: "token-of-another",
    });
    expect(write).toEqual({ held: false, entry: found });
  });

  it("clear what a patch sets to undefined and keep what it does not name", () => {
    const found = anEntry("STARTED", { not_before: "2026-09-02T12:00:30.000Z" });
    const next = nextEntry(found, "failFinal", { lease_until: undefined }, stamp);
    expect("lease_until" in next).toBe(false);
    expect(next.not_before).toBe("2026-09-02T12:00:30.000Z");
    expect(next.created_at).toBe("2026-09-02T12:00:00.000Z");
  });
});
