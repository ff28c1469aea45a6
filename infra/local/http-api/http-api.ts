import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { InvokeResult } from "../lambda/lambda-failure.ts";
import { toHttpApiEvent, type HttpApiRequest } from "./http-api-event.ts";
import { gatewayMessage, toHttpResponse, type HttpResponse } from "./http-api-response.ts";
import { matchRoute, type HttpRoute } from "./match-route.ts";

/** API Gateway's limit for a request of an HTTP API. */
export const requestBytesMax = 10 * 1024 * 1024;
/** API Gateway's limit for an integration of an HTTP API. */
const integrationTimeoutMsDefault = 30_000;

export interface HttpApiOptions {
  /** 0 takes a free one. */
  readonly port: number;
  readonly routes: readonly HttpRoute[];
  readonly invoke: (functionName: string, payload: unknown) => Promise<InvokeResult>;
  /** @default 30,000 as API Gateway */
  readonly integrationTimeoutMs?: number;
  /** @default Date.now */
  readonly now?: () => number;
  /** Told of every answer that was sent. @default nobody */
  readonly onRequest?: (line: HttpApiLogLine) => void;
}

export interface HttpApiLogLine {
  readonly method: string;
  readonly path: string;
  readonly statusCode: number;
  readonly functionName?: string;
  readonly durationMs: number;
  /** Why the gateway itself refused, where it did. */
  readonly reason?: string;
}

export interface HttpApi {
  readonly url: string;
  readonly port: number;
  /** Cuts open connections; a function that still runs is not stopped. */
  stop(): Promise<void>;
}

interface Outcome {
  readonly response: HttpResponse;
  readonly functionName?: string;
  readonly reason?: string;
}

/** API Gateway's HTTP API on 127.0.0.1, with payload format 2.0 and without what Surefoot does not use: stages, authorizers, CORS.
 *  @throws Error `EADDRINUSE` where the port is taken. */
export async function startHttpApi(options: HttpApiOptions): Promise<HttpApi> {
  const now = options.now ?? Date.now;
  const server = createServer((request, response) => {
    const startedAt = now();
    const path = pathOf(request);
    void answer(options, now, request)
      .then(({ response: { statusCode, headers, body }, functionName, reason }) => {
        response.writeHead(statusCode, { ...headers, "content-length": body.length });
        response.end(body);
        options.onRequest?.({
          method: request.method ?? "GET",
          path: path ?? request.url ?? "/",
          statusCode,
          durationMs: now() - startedAt,
          ...(functionName !== undefined && { functionName }),
          ...(reason !== undefined && { reason }),
        });
      })
      .catch(() => abandon(response));
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(options.port, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // a TCP server's address is never a pipe name
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(options: HttpApiOptions, now: () => number, incoming: IncomingMessage): Promise<Outcome> {
  const body = await readBody(incoming);
  if (!body)
    return { response: gatewayMessage(413, "Request Entity Too Large"), reason: `body above ${requestBytesMax} bytes` };
  const path = pathOf(incoming);
  if (path === undefined)
    return { response: gatewayMessage(400, "Bad Request"), reason: "the path is not valid percent-encoding" };

  const method = incoming.method ?? "GET";
  const match = matchRoute(options.routes, method, path);
  if (!match) return { response: gatewayMessage(404, "Not Found"), reason: whyNotFound(incoming) };

  const { functionName } = match.route;
  const request: HttpApiRequest = {
    method,
    path,
    rawQueryString: (incoming.url ?? "").split("?").slice(1).join("?"),
    headers: incoming.headers,
    body,
    sourceIp: incoming.socket.remoteAddress ?? "127.0.0.1",
    port: incoming.socket.localPort ?? 0,
  };
  const event = toHttpApiEvent(request, match, { requestId: randomUUID(), epochMs: now() });
  const result = await within(
    options.integrationTimeoutMs ?? integrationTimeoutMsDefault,
    options.invoke(functionName, event),
  );
  return { functionName, ...fromResult(result) };
}

function fromResult(result: InvokeResult | "timeout"): Outcome {
  if (result === "timeout") {
    return {
      response: gatewayMessage(503, "Service Unavailable"),
      reason: "the function did not answer in time; it may still be running",
    };
  }
  if (!result.ok) return { response: gatewayFailure(result.error), reason: `${result.error}: ${result.cause}` };
  const response = toHttpResponse(result.payload);
  if (response) return { response };
  const reason =
    "expected { statusCode, headers?, cookies?, body?: string, isBase64Encoded? } from the function, found something else";
  return { response: gatewayMessage(500, "Internal Server Error"), reason };
}

function gatewayFailure(error: string): HttpResponse {
  switch (error) {
    case "Lambda.TooManyRequestsException":
      return gatewayMessage(503, "Service Unavailable");
    case "Lambda.RequestTooLargeException": // the body fits the gateway, but not the function
      return gatewayMessage(413, "Request Entity Too Large");
    default:
      return gatewayMessage(500, "Internal Server Error");
  }
}

/** Undefined where it is not valid percent-encoding. */
function pathOf({ url = "/" }: IncomingMessage): string | undefined {
  try {
    return decodeURIComponent(url.split("?")[0] ?? "/");
  } catch {
    return undefined;
  }
}

function whyNotFound({ method, url = "" }: IncomingMessage): string {
  const encodedSlash = /%2f/i.test(url.split("?")[0] ?? "");
  const hint = encodedSlash
    ? "; API Gateway decodes %2F before it routes, so the route needs a greedy {parameter+}"
    : "";
  return `no route for ${method} ${url}${hint}`;
}

/** Undefined where more than `requestBytesMax` arrive; the rest is read and dropped, so that the refusal reaches a sender. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= requestBytesMax) chunks.push(chunk);
  }
  return bytes <= requestBytesMax ? Buffer.concat(chunks) : undefined;
}

async function within<Result>(ms: number, work: Promise<Result>): Promise<Result | "timeout"> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<"timeout">((resolve) => (timer = setTimeout(() => resolve("timeout"), ms)));
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/** The caller hung up, or the answer is none that HTTP can carry. */
function abandon(response: ServerResponse): void {
  if (response.headersSent || response.destroyed) response.destroy();
  else
    response
      .writeHead(500, { "content-type": "application/json" })
      .end(JSON.stringify({ message: "Internal Server Error" }));
}
