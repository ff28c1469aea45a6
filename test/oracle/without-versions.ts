import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** moto knows no versions of a state machine: whoever names one means the machine. */
const versionOf = /(:stateMachine:[^:"]+):\d+/gu;

/** Stands before moto, and names machines for versions. Nobody checks the signature there. */
export async function withoutVersions(target: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    const pass = async () => {
      const { host: _, "content-length": __, connection: ___, ...headers } = request.headers;
      const body = (await text(request)).replaceAll(versionOf, "$1");
      const answer = await fetch(new URL(request.url ?? "/", target), {
        method: request.method ?? "POST",
        headers: Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]),
        body,
      });
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "application/json" });
      response.end(await answer.text());
    };
    pass().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
