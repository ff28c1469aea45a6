import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bundleLambda } from "../../../../infra/bundle-lambda.ts";
import { causeOf, functionOf, hangs, lineWatcher, poolWith, temporaryFolder } from "./pool-fixture.ts";

describe("a handler that fails", () => {
  it("is told by its error's name and message, with the trace", async () => {
    const source = `export const handler = async () => { throw Object.assign(new Error("slow down"), { name: "surefoot.retryable.plan" }); };`;
    const pool = poolWith(functionOf(source));
    const result = await pool.invoke("step", {});
    expect(result).toMatchObject({ ok: false, error: "surefoot.retryable.plan" });
    expect(causeOf(result)).toMatchObject({ errorType: "surefoot.retryable.plan", errorMessage: "slow down" });
    expect(causeOf(result).trace?.[0]).toContain("slow down");
  });

  it("keeps its error's class name through minifying", async () => {
    const folder = temporaryFolder();
    const entry = join(import.meta.dirname, "throwing-entry.ts");
    const { file } = await bundleLambda({ entry, outdir: folder });
    const pool = poolWith(functionOf("", { bundleFile: file }));
    expect(await pool.invoke("step", {})).toMatchObject({ ok: false, error: "OperationConflict" });
  });

  it("may throw anything", async () => {
    const pool = poolWith(functionOf(`export const handler = async () => { throw "just text"; };`));
    expect(causeOf(await pool.invoke("step", {}))).toMatchObject({ errorType: "string", errorMessage: "just text" });
  });

  it("goes on with the same process", async () => {
    const pool = poolWith(
      functionOf(`export const handler = async (e) => { if (e.fail) throw new Error("no"); return process.pid; };`),
    );
    const before = await pool.invoke("step", {});
    await pool.invoke("step", { fail: true });
    expect(await pool.invoke("step", {})).toEqual(before);
  });

  it("is told of an answer that has no JSON form", async () => {
    const pool = poolWith(functionOf(`export const handler = async () => { const o = {}; o.self = o; return o; };`));
    expect(causeOf(await pool.invoke("step", {}))).toMatchObject({
      errorType: "Error",
      errorMessage: "Unable to stringify response body",
    });
  });

  it("fails the invocation and ends the process when it forgets a rejected promise", async () => {
    const source = `export const handler = async (e) => { if (e.forget) { Promise.reject(new Error("lost")); await new Promise(() => {}); } return "fresh"; };`;
    const pool = poolWith(functionOf(source));
    const result = await pool.invoke("step", { forget: true });
    expect(result).toMatchObject({ ok: false, error: "Runtime.UnhandledPromiseRejection" });
    expect(causeOf(result).errorMessage).toBe("Error: lost");
    expect(await pool.invoke("step", {})).toEqual({ ok: true, payload: "fresh" });
    expect(pool.processes("step")).toHaveLength(1);
  });
});

describe("a process that ends", () => {
  it("killed while busy fails its invocation as Lambda reports it", async () => {
    const { onLog, line } = lineWatcher();
    const pool = poolWith(functionOf(hangs), { onLog });
    const invocation = pool.invoke("step", {});
    await line(/running/);
    process.kill(pool.processes("step")[0]?.pid ?? 0, "SIGKILL");
    const result = await invocation;
    expect(result).toMatchObject({ ok: false, error: "Runtime.ExitError" });
    expect(causeOf(result)).toEqual({
      errorType: "Runtime.ExitError",
      errorMessage: expect.stringMatching(
        /^RequestId: [0-9a-f-]{36} Error: Runtime exited with error: signal: killed$/,
      ),
    });
    expect(pool.processes("step")).toEqual([]);
  });

  it.each([
    [1, /Runtime exited with error: exit status 1$/],
    [0, /Runtime exited without providing a reason$/],
  ])("by process.exit(%i) in the handler counts as that too", async (code, message) => {
    const pool = poolWith(functionOf(`export const handler = async () => { process.exit(${code}); };`));
    const result = await pool.invoke("step", {});
    expect(result).toMatchObject({ ok: false, error: "Runtime.ExitError" });
    expect(causeOf(result).errorMessage).toMatch(message);
  });

  it("by process.exit while loading counts as that too", async () => {
    const pool = poolWith(functionOf(`process.exit(7); export const handler = async () => 1;`));
    const result = await pool.invoke("step", {});
    expect(result).toMatchObject({ ok: false, error: "Runtime.ExitError" });
    expect(causeOf(result).errorMessage).toMatch(/exit status 7$/);
  });

  it("because its module throws while loading tells what was thrown", async () => {
    const pool = poolWith(functionOf(`throw new TypeError("no table name"); export const handler = async () => 1;`));
    expect(causeOf(await pool.invoke("step", {}))).toMatchObject({
      errorType: "TypeError",
      errorMessage: "no table name",
    });
  });

  it("because it exports no handler says so", async () => {
    const pool = poolWith(functionOf(`export const handle = async () => 1;`));
    expect(await pool.invoke("step", {})).toMatchObject({ ok: false, error: "Runtime.HandlerNotFound" });
  });

  it("because it outgrew its memory fails its invocation", async () => {
    const source = `export const handler = async () => { const all = []; for (;;) all.push(new Array(1e5).fill({}).map(() => ({}))); };`;
    const pool = poolWith(functionOf(source, { memoryMb: 64 }));
    expect(await pool.invoke("step", {})).toMatchObject({ ok: false, error: "Runtime.ExitError" });
  });

  it("at its deadline is dead before the timeout is reported", async () => {
    const pool = poolWith(functionOf(hangs, { timeoutMs: 300 }));
    const invocation = pool.invoke("step", {});
    const [{ pid } = { pid: 0 }] = pool.processes("step");
    const result = await invocation;
    expect(result).toMatchObject({ ok: false, error: "Sandbox.Timedout" });
    expect(causeOf(result)).toEqual({
      errorType: "Sandbox.Timedout",
      errorMessage: expect.stringMatching(/^RequestId: [0-9a-f-]{36} Error: Task timed out after 0\.30 seconds$/),
    });
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("at its deadline even when it is busy in a loop", async () => {
    const pool = poolWith(functionOf(`export const handler = async () => { for (;;); };`, { timeoutMs: 300 }));
    expect(await pool.invoke("step", {})).toMatchObject({ ok: false, error: "Sandbox.Timedout" });
  });
});
