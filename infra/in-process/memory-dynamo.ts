import { EventEmitter } from "node:events";
import type { Server } from "node:http";
import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import dynalite from "dynalite";
import { createDocumentClient } from "../../shared/dynamo/dynamo-client.ts";
import { ledgerTable } from "../../shared/ledger/ledger-table.ts";
import { runsTable } from "../../shared/runlog/runs-table.ts";
import { createTables } from "../local/dynamo/create-tables.ts";

/** What the SDK does to a request beside writing and reading it: nothing that matters without a network. */
const ofTheNetwork = [
  "loggerMiddleware",
  "recursionDetectionMiddleware",
  "getUserAgentMiddleware",
  "hostHeaderMiddleware",
  "contentLengthMiddleware",
  "httpSigningMiddleware",
];

/**
 * Empty tables of one world: dynalite in this process and in memory, without a socket. The SDK's client hands its HTTP request to dynalite's
 * own handler. Making them anew costs less than emptying them.
 */
export async function memoryDynamo(): Promise<DynamoDBDocumentClient> {
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  const client = createDocumentClient({
    region: "us-east-1",
    endpoint: "http://in-process",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    // What is repeated is for the drill to say, not for chance and a real timer.
    maxAttempts: 1,
    requestHandler: handlerOver(server),
  });
  for (const name of ofTheNetwork) client.middlewareStack.remove(name);
  await Promise.all([runsTable, ledgerTable].map((table) => createTables(client, [table])));
  return client;
}

/** dynalite only wants them to be there. */
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
