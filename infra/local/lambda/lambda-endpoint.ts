import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { lambdaExceptions, type InvokeFailure, type InvokeResult, type LambdaException } from "./lambda-failure.ts";
import { payloadBytesMax } from "./lambda-protocol.ts";

/** Lambda takes 1 MB for an event that nobody waits for. */
const eventBytesMax = 1024 * 1024;

export interface LambdaEndpointOptions {
  /** @default a free one */
  readonly port?: number;
  readonly invoke: (name: string, payload: unknown) => Promise<InvokeResult>;
}

export interface LambdaEndpoint {
  readonly endpoint: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** Lambda's Invoke API on 127.0.0.1, for AWS SDKs and other people's state machine interpreters. An `Event` invocation is answered at
 *  once and runs a single time: Lambda's two retries of it are not imitated. */
export async function startLambdaEndpoint({ port = 0, invoke }: LambdaEndpointOptions): Promise<LambdaEndpoint> {
  const server = createServer((request, response) => {
    void serve(request, response, invoke).catch(() => response.destroy()); // the caller hung up
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  const bound = (server.address() as AddressInfo).port; // a TCP server's address is never a pipe name
  return {
    endpoint: `http://127.0.0.1:${bound}`,
    port: bound,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  invoke: LambdaEndpointOptions["invoke"],
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://127.0.0.1");
  const [, encodedName] = /^\/2015-03-31\/functions\/([^/]+)\/invocations\/?$/.exec(url.pathname) ?? [];
  if (request.method !== "POST" || encodedName === undefined) {
    return sendException(
      response,
      "ResourceNotFoundException",
      `${request.method} ${url.pathname} is not Invoke, the only operation here`,
    );
  }
  const qualifier = url.searchParams.get("Qualifier");
  const name = decodeURIComponent(encodedName) + (qualifier ? `:${qualifier}` : "");
  const type = request.headers["x-amz-invocation-type"] ?? "RequestResponse";
  const body = await readBody(request, type === "Event" ? eventBytesMax : payloadBytesMax);
  if (body === undefined) {
    return sendException(
      response,
      "RequestTooLargeException",
      `Request must be smaller than ${payloadBytesMax} bytes for the InvokeFunction operation`,
    );
  }
  const parsed = parseJson(body);
  if (!parsed)
    return sendException(response, "InvalidRequestContentException", "Could not parse request body into json");

  switch (type) {
    case "DryRun":
      return send(response, 204, "");
    case "Event":
      void invoke(name, parsed.value);
      return send(response, 202, "");
    case "RequestResponse":
      return sendResult(response, await invoke(name, parsed.value));
    default:
      return sendException(
        response,
        "InvalidRequestContentException",
        `expected X-Amz-Invocation-Type RequestResponse, Event or DryRun, found ${String(type)}`,
      );
  }
}

function sendResult(response: ServerResponse, result: InvokeResult): void {
  if (result.ok) return send(response, 200, JSON.stringify(result.payload), { "X-Amz-Executed-Version": "$LATEST" });
  const exception = serviceException(result);
  if (exception) return sendException(response, exception, result.cause);
  send(response, 200, result.cause, { "X-Amz-Executed-Version": "$LATEST", "X-Amz-Function-Error": "Unhandled" });
}

function serviceException({ error }: InvokeFailure): LambdaException | undefined {
  const name = error.replace(/^Lambda\./, "");
  return name !== error && name in lambdaExceptions ? (name as LambdaException) : undefined;
}

function sendException(response: ServerResponse, exception: LambdaException, message: string): void {
  const status = lambdaExceptions[exception];
  const fault = { Type: status < 500 ? "User" : "Service", Message: message, message };
  send(response, status, JSON.stringify(fault), { "x-amzn-ErrorType": exception });
}

function send(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  // Callers rely on the id: boto3 shows it in its errors' metadata only where the header is there.
  const requestId = { "x-amzn-RequestId": randomUUID() };
  response.writeHead(status, { "Content-Type": "application/json", ...requestId, ...headers });
  response.end(body);
}

/** Undefined where more than `bytesMax` arrive; the rest is read and dropped, so that the refusal reaches a caller who is still sending. */
async function readBody(request: IncomingMessage, bytesMax: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= bytesMax) chunks.push(chunk);
  }
  return bytes <= bytesMax ? Buffer.concat(chunks).toString("utf8") : undefined;
}

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: text === "" ? {} : JSON.parse(text) };
  } catch {
    return undefined;
  }
}
