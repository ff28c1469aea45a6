import { type DynamoDBDocumentClient, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { dynamoLedgerStore } from "../../shared/ledger/dynamo-ledger-store.ts";
import type { LedgerEntry } from "../../shared/ledger/ledger-entry.ts";
import { ledgerTable } from "../../shared/ledger/ledger-table.ts";
import { unpackValue, type PackedValue } from "../../shared/payloads/claim-check.ts";
import type { PayloadStore } from "../../shared/payloads/payload-store.ts";
import { dynamoRunLog } from "../../shared/runlog/dynamo-run-log.ts";
import type { RunHistory, RunSummary } from "../../shared/runlog/run-log.ts";
import { runsTable } from "../../shared/runlog/runs-table.ts";

/** What a world has stored, read past the gate. */
export interface Stored {
  history(runId: string): Promise<RunHistory | undefined>;
  openRuns(): Promise<readonly RunSummary[]>;
  operation(operationId: string): Promise<LedgerEntry | undefined>;
  /** Oldest first. */
  operations(runId: string): Promise<readonly LedgerEntry[]>;
  /** A recorded value as it was. */
  value(packed: PackedValue): Promise<unknown>;
  /** Whether a sweep would find anything to look at. */
  anythingOpen(): Promise<boolean>;
}

const refuse = (): never => {
  throw new Error("whoever looks writes nothing");
};

export function storedOf(client: DynamoDBDocumentClient, payloads: PayloadStore): Stored {
  const log = dynamoRunLog({
    client,
    table: runsTable.name,
    clock: { nowMs: refuse, after: refuse },
    ids: { next: refuse },
  });
  const ledger = dynamoLedgerStore(client, ledgerTable.name);
  const hasOpen = async (table: string) => {
    const open = new ScanCommand({ TableName: table, IndexName: "open", Select: "COUNT", Limit: 1 });
    return ((await client.send(open)).Count ?? 0) > 0;
  };
  return {
    history: (runId) => log.read(runId),
    openRuns: () => log.listOpenRuns(),
    operation: (operationId) => ledger.read(operationId),
    operations: (runId) => ledger.listByRun(runId),
    value: (packed) => unpackValue(payloads, packed),
    anythingOpen: async () => (await hasOpen(runsTable.name)) || hasOpen(ledgerTable.name),
  };
}
