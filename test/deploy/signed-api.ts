import type { ApiClient } from "../../infra/cli/api-client.ts";
import type { Emulator } from "./emulator.ts";
import { send } from "./signed-request.ts";

/** A deployed stack's HTTP API, by the address that the stack gave out. */
export function signedApi(emulator: Emulator, url: string): ApiClient {
  const host = hostOf(url);
  const call = async (method: string, path: string, accept: readonly number[], body?: unknown) => {
    const answer = await send(emulator, {
      service: "execute-api",
      host,
      method,
      path,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    if (accept.includes(answer.status)) return { status: answer.status, body: JSON.parse(answer.body) as unknown };
    throw new Error(`${method} ${path} was answered with ${answer.status}: ${answer.body}`);
  };
  return {
    url,
    get: async (path) => (await call("GET", path, [200])).body,
    post: (path, body, accept = [200, 201]) => call("POST", path, accept, body),
  };
}

/** The stack gives out an address at AWS; the emulator has the same API under a name of this machine. */
export const hostOf = (url: string): string => `${new URL(url).host.split(".")[0]}.execute-api.localhost`;
