import { dynamoLedgerStore } from "../../shared/ledger/dynamo-ledger-store.ts";
import { createLedger, type Ledger, type OperationRequest, type Success } from "../../shared/ledger/ledger.ts";
import type { LedgerEntry, OperationStatus } from "../../shared/ledger/ledger-entry.ts";
import type { LedgerStore } from "../../shared/ledger/ledger-store.ts";
import { OperationId } from "../../shared/operation/operation-id.ts";
import { countingIds } from "./counting-ids.ts";
import { type DynamoProxy } from "./dynamo-proxy.ts";
import type { LocalTables } from "./local-tables.ts";
import { ManualClock } from "./manual-clock.ts";

let operations = 0;
/** Operations of different tests never meet. */
export const freshOperationId = (): OperationId => OperationId.parse((++operations).toString(16).padStart(32, "0"));

export const aRequest = (over: Partial<OperationRequest> = {}): OperationRequest => ({
  operation_id: freshOperationId(),
  run_id: "refund-agent-20260902-0001",
  workflow_id: "TICKET-1",
  agent: "refund-agent",
  action_name: "create_refund",
  business_key: "ORD-1",
  position: "0003.refund",
  request: { json: '{"amountCents":4200}' },
  request_hash: "aaaa",
  tool_version: 1,
  risk: "high",
  capability: "key",
  ...over,
});

export const aSuccess = (over: Partial<Success> = {}): Success => ({
  result: { json: '{"id":"re_1"}' },
  responseHash: "hash-of-re_1",
  externalRef: "re_1",
  ...over,
});

/** An entry as it lies in the table, in `status`. */
export const anEntry = (status: OperationStatus, over: Partial<LedgerEntry> = {}): LedgerEntry => ({
  ...aRequest(),
  status,
  attempt: status === "PENDING" ? 0 : 1,
  may_have_applied: status === "UNKNOWN" || status === "SUCCEEDED",
  ...(status !== "PENDING" && { attempt_token: "token-1", first_sent_at: "2026-09-02T12:00:00.000Z" }),
  ...(status === "STARTED" && { lease_until: "2026-09-02T12:01:00.000Z" }),
  ...(status === "SUCCEEDED" && {
    result: { json: '{"id":"re_1"}' },
    response_hash: "hash-of-re_1",
    external_ref: "re_1",
    committed_at: "2026-09-02T12:00:00.000Z",
  }),
  created_at: "2026-09-02T12:00:00.000Z",
  updated_at: "2026-09-02T12:00:00.000Z",
  version: 1,
  write_id: "write-1",
  ...over,
});

export interface LedgerWorld {
  readonly ledger: Ledger;
  readonly store: LedgerStore;
  readonly clock: ManualClock;
  readonly proxy: DynamoProxy;
  /** Puts an entry into the table as it is. */
  given(entry: LedgerEntry): Promise<LedgerEntry>;
}

/** A ledger whose every request passes the proxy. */
export function ledgerWorld(tables: LocalTables): LedgerWorld {
  const clock = new ManualClock();
  const store = dynamoLedgerStore(tables.proxied(), "ledger");
  return {
    store,
    clock,
    ledger: createLedger({ store, clock, ids: countingIds() }),
    proxy: tables.proxy(),
    given: async (entry) => (await dynamoLedgerStore(tables.client(), "ledger").create(entry)).entry,
  };
}
