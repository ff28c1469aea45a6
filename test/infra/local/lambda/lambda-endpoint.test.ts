import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { startLambdaEndpoint } from "../../../../infra/local/lambda/lambda-endpoint.ts";
import type { InvokeResult } from "../../../../infra/local/lambda/lambda-failure.ts";
import { functionOf, lineWatcher, poolWith } from "./pool-fixture.ts";

async function endpointFor(invoke: (name: string, payload: unknown) => Promise<InvokeResult>) {
  const { endpoint, stop } = await startLambdaEndpoint({ invoke });
  onTestFinished(stop);
  return (name: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`${endpoint}/2015-03-31/functions/${name}/invocations`, { method: "POST", body, headers });
}

async function endpointOf(source: string) {
  const watcher = lineWatcher();
  const pool = poolWith(functionOf(source), { onLog: watcher.onLog });
  return { post: await endpointFor(pool.invoke), line: watcher.line };
}

describe("Lambda's Invoke API", () => {
  it("answers with what the function returned, found by name or by an encoded ARN with a qualifier", async () => {
    const { post } = await endpointOf(`export const handler = async (event) => ({ twice: event.n * 2 });`);
    for (const name of ["step", encodeURIComponent("arn:aws:lambda:us-east-1:000000000000:function:step:3")]) {
      const response = await post(name, `{"n":21}`);
      expect(response.status).toBe(200);
      expect(response.headers.get("x-amz-function-error")).toBeNull();
      expect(await response.json()).toEqual({ twice: 42 });
    }
  });

  it("marks a function's error in a header and gives its report", async () => {
    const { post } = await endpointOf(
      `export const handler = async () => { throw Object.assign(new Error("later"), { name: "surefoot.retryable.plan" }); };`,
    );
    const response = await post("step", "{}");
    expect(response.status).toBe(200);
    expect(response.headers.get("x-amz-function-error")).toBe("Unhandled");
    expect(await response.json()).toMatchObject({ errorType: "surefoot.retryable.plan", errorMessage: "later" });
  });

  it("names every answer with an id of its own, a refusal too", async () => {
    const post = await endpointFor(async (name) =>
      name === "step" ? { ok: true, payload: 1 } : { ok: false, error: "Lambda.TooManyRequestsException", cause: "" },
    );
    const answers = [await post("step", "{}"), await post("busy", "{}"), await post("busy", "not json")];
    expect(answers.map(({ status }) => status)).toEqual([200, 429, 400]);
    expect(new Set(answers.map(({ headers }) => headers.get("x-amzn-requestid") ?? "none")).size).toBe(3);
  });

  it("takes an event that nobody waits for and runs it", async () => {
    const { post, line } = await endpointOf(`export const handler = async ({ id }) => { console.log("ran", id); };`);
    const response = await post("step", `{"id":"e1"}`, { "X-Amz-Invocation-Type": "Event" });
    expect(response.status).toBe(202);
    expect(await line(/^ran/)).toBe("ran e1");
  });

  it("runs nothing on a dry run", async () => {
    const post = await endpointFor(() => Promise.reject(new Error("must not run")));
    const response = await post("step", "{}", { "X-Amz-Invocation-Type": "DryRun" });
    expect(response.status).toBe(204);
  });

  it("takes a missing body for an empty event", async () => {
    const { post } = await endpointOf(`export const handler = async (event) => event;`);
    expect(await (await post("step", "")).json()).toEqual({});
  });

  it.each([
    ["nothing", "{}", 404, "ResourceNotFoundException"],
    ["step", "{not json", 400, "InvalidRequestContentException"],
    ["step", JSON.stringify("x".repeat(6 * 1024 * 1024)), 413, "RequestTooLargeException"],
  ])("refuses %s with %.9s as Lambda does", async (name, body, status, exception) => {
    const { post } = await endpointOf(`export const handler = async () => 1;`);
    const response = await post(name, body);
    expect(response.status).toBe(status);
    expect(response.headers.get("x-amzn-errortype")).toBe(exception);
  });

  it("listens on this machine only", async () => {
    const { endpoint, stop } = await startLambdaEndpoint({ invoke: async () => ({ ok: true, payload: null }) });
    onTestFinished(stop);
    expect(new URL(endpoint).hostname).toBe("127.0.0.1");
  });

  it("says so when its port is taken", async () => {
    const holder = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void holder.close());
    await once(holder, "listening");
    const { port } = holder.address() as { port: number };
    await expect(startLambdaEndpoint({ port, invoke: async () => ({ ok: true, payload: null }) })).rejects.toThrow(
      "EADDRINUSE",
    );
  });
});
