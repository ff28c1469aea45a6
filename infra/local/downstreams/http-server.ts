import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Far above any request an agent sends here; past it the sender is broken. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;

/** One HTTP request and the three ways to end it: answer, cut the connection, or neither (the caller hangs). */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  answer(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void;
  /** Destroys the socket: the caller sees a reset, not a response. */
  drop(): void;
}

export interface HttpServer {
  readonly url: string;
  readonly port: number;
  /** Cuts every open connection, hanging ones included. */
  close(): Promise<void>;
}

/** Listens on 127.0.0.1 only; port 0 takes a free one. A handler that throws is answered with 500 and its message. */
export async function listenHttp(port: number, handle: (exchange: Exchange) => Promise<void>): Promise<HttpServer> {
  const server = createServer((request, response) => {
    void receive(request, response)
      .then(handle)
      .catch((fault: unknown) => {
        const message = fault instanceof Error ? fault.message : String(fault);
        const type = fault instanceof BodyTooLarge ? "request_too_large" : "local_server_fault";
        if (response.headersSent) response.destroy();
        else sendJson(response, type === "request_too_large" ? 413 : 500, { error: { type, message } });
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const bound = (server.address() as AddressInfo).port; // a TCP server's address is never a pipe name
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

class BodyTooLarge extends Error {}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<Exchange> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) {
      throw new BodyTooLarge(`expected a body of at most ${BODY_BYTES_MAX} bytes, and more arrived: send less`);
    }
    chunks.push(chunk);
  }
  const url = new URL(request.url ?? "/", "http://127.0.0.1");
  return {
    method: request.method ?? "GET",
    path: decodeURIComponent(url.pathname),
    query: url.searchParams,
    headers: request.headers,
    body: Buffer.concat(chunks).toString("utf8"),
    answer: (status, body, headers) => sendJson(response, status, body, headers),
    drop: () => request.socket.destroy(),
  };
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.destroyed) return; // whoever asked has hung up; what was done stays done
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text).toString(),
    ...headers,
  });
  response.end(text);
}
