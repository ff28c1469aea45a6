import { describe, expect, it } from "vitest";
import { dynamoLedgerStore } from "../../../shared/ledger/dynamo-ledger-store.ts";
import type { LedgerEntry } from "../../../shared/ledger/ledger-entry.ts";
import type { LedgerStore } from "../../../shared/ledger/ledger-store.ts";
import { anEntry, freshOperationId } from "../../builders/ledger-world.ts";
import { localTables } from "../../builders/local-tables.ts";
import { memoryLedgerStore } from "./memory-ledger-store.ts";

const tables = localTables();
const stores: readonly (readonly [string, () => LedgerStore])[] = [
  ["in DynamoDB", () => dynamoLedgerStore(tables.client(), "ledger")],
  ["in memory", () => memoryLedgerStore()],
];

describe.each(stores)("a ledger store %s", (_where, open) => {
  const given = async (over: Partial<LedgerEntry> = {}) => {
    const store = open();
    const entry = anEntry("STARTED", { operation_id: freshOperationId(), ...over });
    await store.create(entry);
    return { store, entry };
  };
  const next = (entry: LedgerEntry, over: Partial<LedgerEntry> = {}): LedgerEntry => ({
    ...entry,
    status: "SUCCEEDED",
    version: entry.version + 1,
    write_id: "write-2",
    ...over,
  });

  it("reads what was created, and nothing else", async () => {
    const { store, entry } = await given();
    expect(await store.read(entry.operation_id)).toEqual(entry);
    expect(await store.read(freshOperationId())).toBeUndefined();
  });

  it("creates an entry once: the second writer gets the first one's", async () => {
    const { store, entry } = await given();
    const second = await store.create({ ...entry, business_key: "other", write_id: "write-9" });
    expect(second).toEqual({ held: false, entry });
    expect(await store.read(entry.operation_id)).toEqual(entry);
  });

  it("takes its own write, repeated after a lost acknowledgement, for held", async () => {
    const { store, entry } = await given();
    expect(await store.create(entry)).toEqual({ held: true, entry });
    const moved = next(entry);
    const expected = { status: entry.status, version: entry.version };
    expect(await store.replace(moved, expected)).toEqual({ held: true, entry: moved });
    expect(await store.replace(moved, expected)).toEqual({ held: true, entry: moved });
  });

  it.each([
    ["another status", { status: "UNKNOWN", version: 1 }],
    ["another version", { status: "STARTED", version: 2 }],
    ["another attempt's token", { status: "STARTED", version: 1, attemptToken: "token-2" }],
  ] as const)("refuses a write that expected %s, and says what is stored", async (_what, expected) => {
    const { store, entry } = await given();
    expect(await store.replace(next(entry), expected)).toEqual({ held: false, entry });
    expect(await store.read(entry.operation_id)).toEqual(entry);
  });

  it("writes for the attempt that owns it", async () => {
    const { store, entry } = await given();
    const write = await store.replace(next(entry), { status: "STARTED", version: 1, attemptToken: "token-1" });
    expect(write.held).toBe(true);
    expect((await store.read(entry.operation_id))?.status).toBe("SUCCEEDED");
  });

  it("refuses to replace what was never there", async () => {
    const store = open();
    const entry = anEntry("STARTED", { operation_id: freshOperationId() });
    await expect(store.replace(next(entry), { status: "STARTED", version: 1 })).rejects.toThrow();
  });
});
