import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { bundleLambda } from "../../../../infra/bundle-lambda.ts";
import {
  startHttpApi,
  type HttpApi,
  type HttpApiLogLine,
  type HttpApiOptions,
} from "../../../../infra/local/http-api/http-api.ts";
import type { HttpRoute } from "../../../../infra/local/http-api/match-route.ts";
import type { InvokeResult } from "../../../../infra/local/lambda/lambda-failure.ts";
import { createLambdaPool, type LambdaPool } from "../../../../infra/local/lambda/lambda-pool.ts";

const routes: HttpRoute[] = [
  { method: "POST", path: "/runs", functionName: "start" },
  { method: "GET", path: "/runs/{run_id}", functionName: "read" },
  { method: "GET", path: "/runs/latest", functionName: "latest" },
  { method: "GET", path: "/approvals/{waiter_id+}", functionName: "read" },
];
const noon = Date.UTC(2026, 8, 2, 12, 0, 0);

/** The gateway before a function that answers what `result` says and remembers its events. */
async function apiWith(result: unknown, over: Partial<HttpApiOptions> = {}) {
  const calls: { functionName: string; event: Record<string, unknown> }[] = [];
  const log: HttpApiLogLine[] = [];
  const api = await startHttpApi({
    port: 0,
    routes,
    now: () => noon,
    onRequest: (line) => log.push(line),
    invoke: async (functionName, event) => {
      calls.push({ functionName, event: event as Record<string, unknown> });
      return result as InvokeResult;
    },
    ...over,
  });
  onTestFinished(api.stop);
  return { ...api, calls, log };
}
const answering = (payload: unknown) => ({ ok: true, payload });

describe("the event", () => {
  it("has API Gateway's shape, payload format 2.0", async () => {
    const { url, port, calls } = await apiWith(answering({}));
    await fetch(`${url}/runs?agent=refund&tag=a&tag=b%20c`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Cookie: "s=1; t=2", "User-Agent": "curl", "X-Custom": "Yes" },
      body: `{"order":"ÖRD-1"}`,
    });
    expect(calls).toHaveLength(1);
    expect(calls[0]?.functionName).toBe("start");
    expect(calls[0]?.event).toEqual({
      version: "2.0",
      routeKey: "POST /runs",
      rawPath: "/runs",
      rawQueryString: "agent=refund&tag=a&tag=b%20c",
      cookies: ["s=1", "t=2"],
      headers: expect.objectContaining({
        "content-type": "application/json",
        "x-custom": "Yes",
        host: `127.0.0.1:${port}`,
        "x-forwarded-for": "127.0.0.1",
        "x-forwarded-port": String(port),
        "x-forwarded-proto": "http",
      }),
      queryStringParameters: { agent: "refund", tag: "a,b c" },
      requestContext: {
        accountId: "000000000000",
        apiId: "local",
        domainName: `127.0.0.1:${port}`,
        domainPrefix: "127",
        http: { method: "POST", path: "/runs", protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "curl" },
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        routeKey: "POST /runs",
        stage: "$default",
        time: "02/Sep/2026:12:00:00 +0000",
        timeEpoch: noon,
      },
      body: `{"order":"ÖRD-1"}`,
      isBase64Encoded: false,
    });
    expect(calls[0]?.event["headers"]).not.toHaveProperty("cookie");
  });

  it("leaves out what the request does not have", async () => {
    const { url, calls } = await apiWith(answering({}));
    await fetch(`${url}/runs`, { method: "POST" });
    for (const name of ["cookies", "queryStringParameters", "pathParameters", "body"]) {
      expect(calls[0]?.event).not.toHaveProperty(name);
    }
    expect(calls[0]?.event).toMatchObject({ rawQueryString: "", isBase64Encoded: false });
  });

  it.each(["application/octet-stream", "application/x-www-form-urlencoded", "image/png", ""])(
    "carries a body of type '%s' as base64, as AWS does",
    async (type) => {
      const { url, calls } = await apiWith(answering({}));
      const body = new Uint8Array([0, 255, 128]);
      await fetch(`${url}/runs`, { method: "POST", body, ...(type && { headers: { "content-type": type } }) });
      expect(calls[0]?.event).toMatchObject({ body: "AP+A", isBase64Encoded: true });
    },
  );

  it("decodes path parameters, colons and slashes included where the parameter is greedy", async () => {
    const { url, calls } = await apiWith(answering({}));
    await fetch(`${url}/runs/agt%3A1%20x`);
    await fetch(`${url}/approvals/agt_1%3A0004.gather%2Fa%2F0000.fetch`);
    await fetch(`${url}/approvals/agt_1:0004.gather/a/0000.fetch`);
    expect(calls.map(({ event }) => event["pathParameters"])).toEqual([
      { run_id: "agt:1 x" },
      { waiter_id: "agt_1:0004.gather/a/0000.fetch" },
      { waiter_id: "agt_1:0004.gather/a/0000.fetch" },
    ]);
    expect(calls[1]?.event).toMatchObject({
      routeKey: "GET /approvals/{waiter_id+}",
      rawPath: "/approvals/agt_1:0004.gather/a/0000.fetch",
    });
  });
});

describe("routing", () => {
  it("prefers a fixed segment to a parameter", async () => {
    const { url, calls } = await apiWith(answering({}));
    await fetch(`${url}/runs/latest`);
    await fetch(`${url}/runs/other`);
    expect(calls.map(({ functionName }) => functionName)).toEqual(["latest", "read"]);
  });

  it.each([
    ["GET", "/nowhere"],
    ["DELETE", "/runs"],
    ["GET", "/runs"],
    ["GET", "/runs/"],
    ["GET", "/runs/a/b"],
    ["GET", "/approvals/"],
  ])("does not find %s %s", async (method, path) => {
    const { url, calls } = await apiWith(answering({}));
    const response = await fetch(url + path, { method });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ message: "Not Found" });
    expect(calls).toEqual([]);
  });

  it("does not find an encoded slash in a plain parameter, as API Gateway does not, and says why in the log", async () => {
    const { url, log } = await apiWith(answering({}));
    expect((await fetch(`${url}/runs/a%2Fb`)).status).toBe(404);
    expect(log[0]?.reason).toMatch(/decodes %2F before it routes, so the route needs a greedy/);
  });

  it("refuses a path that is no percent-encoding", async () => {
    const { url } = await apiWith(answering({}));
    expect((await fetch(`${url}/runs/%E0%A4%A`)).status).toBe(400);
  });

  it("refuses a body above 10 MB", async () => {
    const { url, calls } = await apiWith(answering({}));
    const response = await fetch(`${url}/runs`, { method: "POST", body: "x".repeat(10 * 1024 * 1024 + 1) });
    expect(response.status).toBe(413);
    expect(calls).toEqual([]);
  });
});

describe("the response", () => {
  it("is what the function described", async () => {
    const { url } = await apiWith(
      answering({ statusCode: 409, headers: { "X-Winner": "ada" }, cookies: ["a=1; Path=/", "b=2"], body: "taken" }),
    );
    const response = await fetch(`${url}/runs`, { method: "POST" });
    expect(response.status).toBe(409);
    expect(response.headers.get("x-winner")).toBe("ada");
    expect(response.headers.getSetCookie()).toEqual(["a=1; Path=/", "b=2"]);
    expect(await response.text()).toBe("taken");
  });

  it("is binary where the body is base64", async () => {
    const { url } = await apiWith(answering({ statusCode: 200, body: "AP+A", isBase64Encoded: true }));
    const response = await fetch(`${url}/runs`, { method: "POST" });
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 255, 128]);
  });

  it("is the function's bare object as JSON where it has no status code", async () => {
    const { url } = await apiWith(answering({ run_id: "r1" }));
    const response = await fetch(`${url}/runs`, { method: "POST" });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual({ run_id: "r1" });
  });

  it.each([
    ["of an object as body", answering({ statusCode: 200, body: { not: "text" } })],
    ["of a status code that is none", answering({ statusCode: 20 })],
    ["of a function's error", { ok: false, error: "TypeError", cause: "{}" }],
    ["of a function's own timeout", { ok: false, error: "Sandbox.Timedout", cause: "{}" }],
  ])("is a plain 500 because %s, with the reason in the log only", async (_why, result) => {
    const { url, log } = await apiWith(result);
    const response = await fetch(`${url}/runs`, { method: "POST" });
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ message: "Internal Server Error" });
    expect(log[0]).toMatchObject({ statusCode: 500, functionName: "start", reason: expect.any(String) });
  });

  it("is 503 where the function takes longer than the gateway waits", async () => {
    const { url } = await apiWith(undefined, { integrationTimeoutMs: 20, invoke: () => new Promise(() => undefined) });
    const response = await fetch(`${url}/runs`, { method: "POST" });
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ message: "Service Unavailable" });
  });
});

describe("a hono app behind it", () => {
  let folder: string;
  let pool: LambdaPool;
  let api: HttpApi;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "surefoot-hono-"));
    const { file } = await bundleLambda({ entry: join(import.meta.dirname, "hono-entry.ts"), outdir: folder });
    pool = createLambdaPool();
    pool.register({ name: "app", bundleFile: file, environment: {}, timeoutMs: 20_000, memoryMb: 256 });
    const served: [string, string][] = [
      ["POST", "/runs"],
      ["GET", "/approvals/{waiter_id+}"],
      ["POST", "/bytes"],
      ["GET", "/fails"],
    ];
    const all = served.map(([method, path]) => ({ method, path, functionName: "app" }));
    api = await startHttpApi({ port: 0, routes: all, invoke: pool.invoke });
  });
  afterAll(async () => {
    await api.stop();
    await pool.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("sees JSON, query and cookies, and sets a status and several cookies", async () => {
    const response = await fetch(`${api.url}/runs?agent=re%26fund`, {
      method: "POST",
      headers: { "content-type": "application/json", cookie: "s=1; t=2" },
      body: `{"n":1}`,
    });
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ body: { n: 1 }, cookie: "s=1; t=2", agent: "re&fund" });
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  });

  it("sees a waiter's id whole, encoded or not", async () => {
    for (const id of ["agt_1%3A0004.gather%2Fa%2F0000.fetch", "agt_1:0004.gather/a/0000.fetch"]) {
      const response = await fetch(`${api.url}/approvals/${id}`);
      expect(await response.json()).toEqual({ waiter_id: "agt_1:0004.gather/a/0000.fetch" });
    }
  });

  it("gets bytes and gives bytes", async () => {
    const response = await fetch(`${api.url}/bytes`, { method: "POST", body: new Uint8Array([0, 255, 128]) });
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([128, 255, 0]);
  });

  it("answers its own faults itself", async () => {
    const response = await fetch(`${api.url}/fails`);
    expect(response.status).toBe(500);
    expect(await response.text()).toBe("Internal Server Error");
  });
});
