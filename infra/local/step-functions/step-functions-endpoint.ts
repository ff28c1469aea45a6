import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { REQUESTS, type OperationName, type RequestOf } from "./requests.ts";
import { ServiceError } from "./service-error.ts";
import type { StepFunctionsService } from "./step-functions-service.ts";

export interface StepFunctionsEndpoint {
  /** For the SDK's `endpoint`, or AWS_ENDPOINT_URL_SFN. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const ADDRESS = "127.0.0.1";
const TARGET_PREFIX = "AWSStepFunctions.";
/** A definition may have 1 MiB; as JSON inside JSON it can grow to twice that. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;

type Operations = { readonly [Name in OperationName]: (request: RequestOf<Name>) => unknown };

/** Serves the AWS JSON 1.0 protocol on 127.0.0.1, so that an unmodified AWS SDK client works against the service.
 *  Any signature is accepted. `port` defaults to a free one. */
export async function startStepFunctionsEndpoint(
  service: StepFunctionsService,
  options: { readonly port?: number } = {},
): Promise<StepFunctionsEndpoint> {
  const operations: Operations = {
    CreateStateMachine: (request) => service.createStateMachine(request),
    DescribeStateMachine: (request) => service.describeStateMachine(request),
    ListStateMachines: (request) => service.listStateMachines(request),
    StartExecution: (request) => service.startExecution(request),
    DescribeExecution: (request) => service.describeExecution(request),
    ListExecutions: (request) => service.listExecutions(request),
    GetExecutionHistory: (request) => service.getExecutionHistory(request),
    StopExecution: (request) => service.stopExecution(request),
    SendTaskSuccess: (request) => service.sendTaskSuccess(request),
    SendTaskFailure: (request) => service.sendTaskFailure(request),
    SendTaskHeartbeat: (request) => service.sendTaskHeartbeat(request),
  };
  const server = createServer((request, response) => {
    void handle(operations, request, response);
  });
  const port = await listen(server, options.port ?? 0);
  return { url: `http://${ADDRESS}:${port}`, port, close: () => close(server) };
}

async function handle(operations: Operations, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const name = operationOf(request);
    const answer = call(operations, name, parseBody(await readBody(request)));
    send(response, 200, answer ?? {});
  } catch (thrown) {
    if (response.destroyed) return;
    if (thrown instanceof ServiceError)
      return send(response, 400, { __type: `com.amazonaws.states#${thrown.code}`, message: thrown.message });
    send(response, 500, { __type: "InternalFailure", message: `The local Step Functions failed: ${String(thrown)}` });
  }
}

function operationOf(request: IncomingMessage): OperationName {
  // A page in a browser can reach 127.0.0.1 under a name of its own; it must not start or answer anything here.
  const host = (request.headers.host ?? "").replace(/:\d+$/, "");
  if (host !== ADDRESS && host !== "localhost") {
    throw new ServiceError("ValidationException", `expected the Host ${ADDRESS} or localhost, found '${host}'`);
  }
  const target = String(request.headers["x-amz-target"] ?? "");
  const name = target.startsWith(TARGET_PREFIX) ? target.slice(TARGET_PREFIX.length) : target;
  if (request.method === "POST" && isOperation(name)) return name;
  const known = Object.keys(REQUESTS).join(", ");
  throw new ServiceError(
    "UnknownOperationException",
    `expected POST with X-Amz-Target ${TARGET_PREFIX}<one of ${known}>; found ${request.method} '${target}', which the local Step Functions does not have`,
  );
}

function call<Name extends OperationName>(operations: Operations, name: Name, body: unknown): unknown {
  const parsed = REQUESTS[name].safeParse(body);
  if (!parsed.success) throw new ServiceError("ValidationException", `${name}: ${z.prettifyError(parsed.error)}`);
  // The schema of this very operation has checked it; TypeScript cannot relate the two tables by a generic key.
  return operations[name](parsed.data as RequestOf<Name>);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const part = chunk as Buffer; // no encoding is set, so the stream yields buffers
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX)
      throw new ServiceError("ValidationException", `expected a request of at most ${BODY_BYTES_MAX} bytes`);
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text === "" ? "{}" : text);
  } catch (thrown) {
    throw new ServiceError("ValidationException", `expected a JSON body, found: ${String(thrown)}`);
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(withEpochSeconds(body));
  response.writeHead(status, {
    "content-type": "application/x-amz-json-1.0",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

/** AWS JSON 1.0 writes a time as seconds since the epoch. */
function withEpochSeconds(value: unknown): unknown {
  if (value instanceof Date) return value.getTime() / 1000;
  if (Array.isArray(value)) return value.map(withEpochSeconds);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withEpochSeconds(member)]));
}

function isOperation(name: string): name is OperationName {
  return Object.hasOwn(REQUESTS, name);
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, ADDRESS, () => {
      server.off("error", reject);
      // A TCP server's address is always an object.
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
