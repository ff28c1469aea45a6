import { CONTROL_PREFIX } from "./control-routes.ts";

/** Drives a downstream from outside. Paths are relative to `/_surefoot/`: `get("effects")`, `post("faults", {…})`.
 *  Answers are raw JSON: read them with the schema the server exports.
 *  @throws Error with the server's own sentence when it refuses, a timed out `wait` included. */
export interface ControlClient {
  get(path: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
  delete(path: string): Promise<unknown>;
}

export function controlClient(url: string): ControlClient {
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(`${url}${CONTROL_PREFIX}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}: ${text}`);
    return JSON.parse(text);
  };
  return {
    get: (path) => call("GET", path),
    post: (path, body) => call("POST", path, body),
    delete: (path) => call("DELETE", path),
  };
}
