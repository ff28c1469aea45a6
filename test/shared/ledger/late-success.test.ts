import { describe, expect, it } from "vitest";
import { dynamoLedgerStore } from "../../../shared/ledger/dynamo-ledger-store.ts";
import type { LedgerEntry } from "../../../shared/ledger/ledger-entry.ts";
import { anEntry, aSuccess, ledgerWorld } from "../../builders/ledger-world.ts";
import { localTables } from "../../builders/local-tables.ts";

describe("a success that comes late", () => {
  const tables = localTables();

  const zombie = (entry: LedgerEntry): LedgerEntry => ({
    ...entry,
    status: "STARTED",
    version: 1,
    attempt_token: "z",
  });

  it.each(["PENDING", "FAILED_RETRYABLE", "FAILED_FINAL"] as const)(
    "counts although the entry says %s, and the contradiction is kept",
    async (status) => {
      const { ledger, given } = ledgerWorld(tables);
      const found = await given(anEntry(status, { version: 5 }));
      const committed = await ledger.commit(zombie(found), aSuccess());

      expect(committed.how).toBe("late");
      expect(await ledger.read(found.operation_id)).toMatchObject({
        status: "SUCCEEDED",
        external_ref: "re_1",
        may_have_applied: true,
        contradictions: [
          {
            kind: "late_success",
            status_then: status,
            external_ref: "re_1",
            response_hash: "hash-of-re_1",
            at: "2026-09-02T12:00:00.000Z",
          },
        ],
      });
    },
  );

  it.each(["STARTED", "UNKNOWN"] as const)("answers %s and contradicts nothing", async (status) => {
    const { ledger, given } = ledgerWorld(tables);
    const found = await given(anEntry(status, { version: 5 }));
    const committed = await ledger.commit(zombie(found), aSuccess());

    expect(committed.how).toBe("committed");
    const stored = await ledger.read(found.operation_id);
    expect(stored).toMatchObject({ status: "SUCCEEDED", external_ref: "re_1", version: 6 });
    expect(stored?.contradictions).toBeUndefined();
  });

  it("and is the same one changes nothing", async () => {
    const { ledger, given } = ledgerWorld(tables);
    const found = await given(anEntry("SUCCEEDED", { version: 5 }));
    // The other side replays its first answer: other bytes, same reference.
    const committed = await ledger.commit(zombie(found), aSuccess({ responseHash: "other-bytes" }));
    expect(committed).toEqual({ entry: found, how: "same" });
    expect(await ledger.read(found.operation_id)).toEqual(found);
  });

  it("and is another one is kept beside the first", async () => {
    const { ledger, given } = ledgerWorld(tables);
    const found = await given(anEntry("SUCCEEDED", { version: 5 }));
    const other = aSuccess({ result: { json: '{"id":"re_2"}' }, responseHash: "hash-of-re_2", externalRef: "re_2" });
    const committed = await ledger.commit(zombie(found), other);

    expect(committed.how).toBe("second");
    expect(await ledger.read(found.operation_id)).toMatchObject({
      status: "SUCCEEDED",
      external_ref: "re_1",
      result: { json: '{"id":"re_1"}' },
      contradictions: [{ kind: "second_success", status_then: "SUCCEEDED", external_ref: "re_2" }],
    });
  });

  it("is told apart by its bytes where the tool names no reference", async () => {
    const { ledger, given } = ledgerWorld(tables);
    const found = await given(anEntry("SUCCEEDED", { version: 5, external_ref: undefined }));
    const same = await ledger.commit(zombie(found), aSuccess({ externalRef: undefined }));
    const other = await ledger.commit(zombie(found), aSuccess({ externalRef: undefined, responseHash: "x" }));
    expect([same.how, other.how]).toEqual(["same", "second"]);
  });

  it("is written again while others move the entry", async () => {
    const { ledger, given, proxy, store } = ledgerWorld(tables);
    const found = await given(anEntry("STARTED", { version: 5 }));
    const isLate = (request: { item: Readonly<Record<string, unknown>>; values: Readonly<Record<string, unknown>> }) =>
      request.item["operation_id"] === found.operation_id && request.values[":version"] === 5;
    proxy.on(isLate, {
      before: async () => {
        const rival = dynamoLedgerStore(tables.client(), "ledger");
        await rival.replace({ ...found, status: "UNKNOWN", version: 6 }, { status: "STARTED", version: 5 });
      },
    });
    const committed = await ledger.commit(zombie(found), aSuccess());
    expect(committed.how).toBe("committed");
    expect(await store.read(found.operation_id)).toMatchObject({ status: "SUCCEEDED", version: 7 });
  });
});
