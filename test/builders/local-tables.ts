import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll } from "vitest";
import { type LocalDynamo, startLocalDynamo } from "../../infra/local/dynamo/local-dynamo.ts";
import { createDocumentClient } from "../../shared/dynamo/dynamo-client.ts";
import { ledgerTable } from "../../shared/ledger/ledger-table.ts";
import { runsTable } from "../../shared/runlog/runs-table.ts";
import { type DynamoProxy, startDynamoProxy } from "./dynamo-proxy.ts";

export interface LocalTables {
  /** Straight to the database. */
  client(): DynamoDBDocumentClient;
  /** Through the proxy. */
  proxied(): DynamoDBDocumentClient;
  proxy(): DynamoProxy;
  /** Holds the database and, below it, large payloads. */
  folder(): string;
}

/** One database on disk for a test file, behind a proxy, spoken to by the package's own clients. */
export function localTables(): LocalTables {
  let folder = "";
  let dynamo: LocalDynamo | undefined;
  let proxy: DynamoProxy | undefined;
  const clients: DynamoDBDocumentClient[] = [];
  const connect = (endpoint: string) => {
    const client = createDocumentClient({
      endpoint,
      region: "us-east-1",
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
    });
    clients.push(client);
    return client;
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "surefoot-tables-"));
    dynamo = await startLocalDynamo({ path: join(folder, "dynamo"), tables: [runsTable, ledgerTable] });
    proxy = await startDynamoProxy({ target: dynamo.endpoint });
    connect(dynamo.endpoint);
    connect(proxy.endpoint);
  });
  afterAll(async () => {
    for (const client of clients) client.destroy();
    await proxy?.stop();
    await dynamo?.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  const started = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error("the tables start before the first test of the file, not earlier");
    return part;
  };
  return {
    client: () => started(clients[0]),
    proxied: () => started(clients[1]),
    proxy: () => started(proxy),
    folder: () => folder,
  };
}
