import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export interface StubRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface StubReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A server on this machine that remembers requests and answers as it is told. `hang` never answers. Ends with the test. */
export async function httpStub(reply: (request: StubRequest) => StubReply | "hang") {
  const requests: StubRequest[] = [];
  const server = createServer((incoming, response) => {
    void text(incoming).then((body) => {
      const request = { method: incoming.method ?? "", path: incoming.url ?? "", headers: incoming.headers, body };
      requests.push(request);
      const answer = reply(request);
      if (answer === "hang") return;
      response.writeHead(answer.status ?? 200, { ...answer.headers }).end(answer.body ?? "");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return { url: `http://127.0.0.1:${port}`, requests };
}
