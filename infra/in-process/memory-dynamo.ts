import { EventEmitter } from "node:events";
import type { Server } from "node:http";
import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { BatchWriteCommand, type DynamoDBDocumentClient, ScanCommand } from "@aws-sdk/lib-dynamodb";
import dynalite from "dynalite";
import { createDocumentClient } from "../../shared/dynamo/dynamo-client.ts";
import { ledgerTable } from "../../shared/ledger/ledger-table.ts";
import { runsTable } from "../../shared/runlog/runs-table.ts";
import type { TableSchema } from "../../shared/tables/table-schema.ts";
import { createTables } from "../local/dynamo/create-tables.ts";

/** Tables in memory, empty, for one world at a time. */
export interface MemoryDynamo {
  readonly client: DynamoDBDocumentClient;
  /** Empties them and lets the next world have them. */
  giveBack(): Promise<void>;
}

const tables: readonly TableSchema[] = [runsTable, ledgerTable];

/** Making tables takes longer than emptying them. */
const idle: DynamoDBDocumentClient[] = [];

/** dynalite in this process, without a socket: the SDK's client hands its HTTP request to dynalite's own handler. */
export async function memoryDynamo(): Promise<MemoryDynamo> {
  const client = idle.pop() ?? (await newTables());
  return {
    client,
    async giveBack() {
      for (const table of tables) await empty(client, table);
      idle.push(client);
    },
  };
}

async function newTables(): Promise<DynamoDBDocumentClient> {
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  const client = createDocumentClient({
    region: "us-east-1",
    endpoint: "http://in-process",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    // What is repeated is for the drill to say, not for chance and a real timer.
    maxAttempts: 1,
    requestHandler: handlerOver(server),
    // Nobody checks it: dynalite only wants the header to be there.
    signer: { sign: (request) => Promise.resolve(request) },
  });
  await createTables(client, tables);
  return client;
}

const presignedHeaders = {
  authorization:
    "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
  "x-amz-date": "20260101T000000Z",
};

/** The part of the SDK's request that travels. */
interface SdkRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

function handlerOver(server: Server): NonNullable<DynamoDBClientConfig["requestHandler"]> {
  return {
    metadata: { handlerProtocol: "http/1.1" },
    destroy: () => undefined,
    handle: (request: SdkRequest) =>
      new Promise((resolve) => {
        const lowered = Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
        const incoming = Object.assign(new EventEmitter(), {
          method: request.method,
          url: request.path,
          headers: { ...Object.fromEntries(lowered), ...presignedHeaders },
        });
        const headers: Record<string, string> = {};
        const outgoing = {
          statusCode: 200,
          setHeader: (name: string, value: unknown) => {
            headers[name.toLowerCase()] = String(value);
          },
          end: (body = "") =>
            resolve({ response: { statusCode: outgoing.statusCode, headers, body: Buffer.from(body) } }),
        };
        server.emit("request", incoming, outgoing);
        incoming.emit("data", bytesOf(request.body));
        incoming.emit("end");
      }),
    // The SDK's own types of request and response are those of a package that is not ours to import.
  } as NonNullable<DynamoDBClientConfig["requestHandler"]>;
}

const bytesOf = (body: unknown): Buffer =>
  body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : Buffer.from(String(body));

/** DynamoDB's limit on one BatchWriteItem. */
const batchMax = 25;

async function empty(client: DynamoDBDocumentClient, { name, partitionKey, sortKey }: TableSchema): Promise<void> {
  const names = { "#pk": partitionKey, ...(sortKey !== undefined && { "#sk": sortKey }) };
  const { Items = [] } = await client.send(
    new ScanCommand({
      TableName: name,
      ProjectionExpression: Object.keys(names).join(", "),
      ExpressionAttributeNames: names,
    }),
  );
  for (let from = 0; from < Items.length; from += batchMax) {
    const deletes = Items.slice(from, from + batchMax).map((Key) => ({ DeleteRequest: { Key } }));
    await client.send(new BatchWriteCommand({ RequestItems: { [name]: deletes } }));
  }
  // A page of a scan is a megabyte: what is left of a large world is there still.
  if (Items.length > 0)
    await empty(client, { name, partitionKey, ...(sortKey !== undefined && { sortKey }) } as TableSchema);
}
