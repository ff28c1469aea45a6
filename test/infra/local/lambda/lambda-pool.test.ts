import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { causeOf, functionOf, hangs, lineWatcher, poolWith, temporaryFolder } from "./pool-fixture.ts";

describe("an invocation", () => {
  it("gives the event to the handler and its answer back", async () => {
    const pool = poolWith(functionOf(`export const handler = async (event) => ({ got: event });`));
    expect(await pool.invoke("step", { run_id: "r1" })).toEqual({ ok: true, payload: { got: { run_id: "r1" } } });
  });

  it("has the context that Lambda gives", async () => {
    const source = `export const handler = async (event, context) => ({ ...context, left: context.getRemainingTimeInMillis() });`;
    const pool = poolWith(functionOf(source, { memoryMb: 512, timeoutMs: 20_000 }));
    const result = await pool.invoke("step", {});
    expect(result).toMatchObject({
      ok: true,
      payload: {
        functionName: "step",
        functionVersion: "$LATEST",
        memoryLimitInMB: "512",
        invokedFunctionArn: "arn:aws:lambda:us-east-1:000000000000:function:step",
        awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    });
    const { left } = (result as unknown as { payload: { left: number } }).payload;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(20_000);
  });

  it("counts its deadline from the clock it was given", async () => {
    const source = `export const handler = async (event, context) => context.getRemainingTimeInMillis() > 3_600_000;`;
    const inOneDay = () => Date.now() + 86_400_000;
    const pool = poolWith(functionOf(source), { now: inOneDay });
    expect(await pool.invoke("step", {})).toEqual({ ok: true, payload: true });
  });

  it("answers null where the handler returns nothing, and drops what JSON cannot hold", async () => {
    const source = `export const handler = async (event) => event.nothing ? undefined : { at: new Date(0), f: () => 1, u: undefined };`;
    const pool = poolWith(functionOf(source));
    expect(await pool.invoke("step", { nothing: true })).toEqual({ ok: true, payload: null });
    expect(await pool.invoke("step", {})).toEqual({ ok: true, payload: { at: "1970-01-01T00:00:00.000Z" } });
  });

  it("reuses the warm process, so that module state survives", async () => {
    const pool = poolWith(functionOf(`let n = 0; export const handler = async () => [process.pid, ++n];`));
    const first = await pool.invoke("step", {});
    const [{ pid } = { pid: 0 }] = pool.processes("step");
    expect(first).toEqual({ ok: true, payload: [pid, 1] });
    expect(await pool.invoke("step", {})).toEqual({ ok: true, payload: [pid, 2] });
    expect(pool.processes("step")).toEqual([{ pid, busy: false }]);
  });

  it("gets a process of its own while another runs", async () => {
    const { onLog, line } = lineWatcher();
    const pool = poolWith(
      functionOf(
        `export const handler = async (e) => { if (e.hang) { console.log("running"); await new Promise((r) => setTimeout(r, 1e6)); } return process.pid; };`,
      ),
      { onLog },
    );
    const hanging = pool.invoke("step", { hang: true });
    await line(/running/);
    const [busy] = pool.processes("step");
    const other = await pool.invoke("step", {});
    expect(other).toMatchObject({ ok: true, payload: expect.not.stringMatching(String(busy?.pid)) });
    expect(pool.processes("step")).toHaveLength(2);
    process.kill(busy?.pid ?? 0, "SIGKILL");
    expect(await hanging).toMatchObject({ ok: false, error: "Runtime.ExitError" });
  });

  it("waits for its turn when all processes are busy, and none runs two at a time", async () => {
    const source = `let running = 0; export const handler = async () => { if (++running > 1) throw new Error("two at a time"); await new Promise((r) => setImmediate(r)); running--; return process.pid; };`;
    const pool = poolWith(functionOf(source), { concurrencyMax: 2 });
    const results = await Promise.all(Array.from({ length: 12 }, () => pool.invoke("step", {})));
    const pids = results.map((result) => (result.ok ? result.payload : result));
    expect(new Set(pids).size).toBe(2);
    expect(pool.processes("step")).toHaveLength(2);
  });

  it("still gets its turn when the only process dies under the one before it", async () => {
    const pool = poolWith(
      functionOf(`export const handler = async (e) => { if (e.die) process.exit(3); return "alive"; };`),
      { concurrencyMax: 1 },
    );
    const [dead, alive] = await Promise.all([pool.invoke("step", { die: true }), pool.invoke("step", {})]);
    expect(dead).toMatchObject({ ok: false, error: "Runtime.ExitError" });
    expect(alive).toEqual({ ok: true, payload: "alive" });
  });
});

describe("the environment of a function", () => {
  it("is what was registered, what Lambda sets, and nothing of ours", async () => {
    vi.stubEnv("DEVELOPER_SECRET", "do not look");
    const pool = poolWith(
      functionOf(`export const handler = async () => process.env;`, { environment: { SUREFOOT_RUNS_TABLE: "runs" } }),
    );
    const result = await pool.invoke("step", {});
    vi.unstubAllEnvs();
    const names = Object.keys((result as unknown as { payload: Record<string, string> }).payload).sort();
    expect(result).toMatchObject({
      payload: { SUREFOOT_RUNS_TABLE: "runs", TZ: "UTC", AWS_LAMBDA_FUNCTION_NAME: "step" },
    });
    expect(names).toEqual([
      "AWS_EC2_METADATA_DISABLED",
      "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
      "AWS_LAMBDA_FUNCTION_NAME",
      "AWS_LAMBDA_FUNCTION_VERSION",
      "AWS_LAMBDA_LOG_GROUP_NAME",
      "AWS_REGION",
      "HOME",
      "LAMBDA_TASK_ROOT",
      "LANG",
      "PATH",
      "SUREFOOT_RUNS_TABLE",
      "TMPDIR",
      "TZ",
    ]);
  });

  it("has no home where the developer's credentials lie", async () => {
    const pool = poolWith(
      functionOf(
        `import { homedir } from "node:os"; export const handler = async () => homedir() === process.env.LAMBDA_TASK_ROOT;`,
      ),
    );
    expect(await pool.invoke("step", {})).toEqual({ ok: true, payload: true });
  });
});

describe("the size of payloads", () => {
  const limit = 6 * 1024 * 1024;

  it("may be exactly 6 MB both ways", async () => {
    const pool = poolWith(functionOf(`export const handler = async (event) => event;`));
    const payload = "x".repeat(limit - 2); // two quotes make it JSON
    expect(await pool.invoke("step", payload)).toEqual({ ok: true, payload });
  });

  it("is counted in bytes, and a request above 6 MB reaches no function", async () => {
    const pool = poolWith(functionOf(`export const handler = async (event) => event;`));
    expect(await pool.invoke("step", "é".repeat(limit / 2))).toEqual({
      ok: false,
      error: "Lambda.RequestTooLargeException",
      cause: "Request must be smaller than 6291456 bytes for the InvokeFunction operation",
    });
    expect(pool.processes("step")).toEqual([]);
  });

  it("fails the invocation where the answer is above 6 MB", async () => {
    const pool = poolWith(functionOf(`export const handler = async () => "x".repeat(${limit - 1});`));
    const result = await pool.invoke("step", {});
    expect(result).toMatchObject({ ok: false, error: "Function.ResponseSizeTooLarge" });
    expect(causeOf(result).errorMessage).toContain("6291556 bytes");
  });
});

describe("names and registrations", () => {
  it("are found by name, by ARN, and by an ARN with a qualifier", async () => {
    const pool = poolWith(functionOf(`export const handler = async () => "here";`));
    const arn = "arn:aws:lambda:eu-central-1:123456789012:function:step";
    for (const name of ["step", "step:$LATEST", arn, `${arn}:7`, "123456789012:function:step"]) {
      expect(await pool.invoke(name, {})).toEqual({ ok: true, payload: "here" });
    }
  });

  it("keep versions apart, so that a pinned run never meets other code", async () => {
    const pool = poolWith(functionOf(`export const handler = async () => "one";`, { name: "step:1" }));
    pool.register(
      functionOf(
        `export const handler = async (e, context) => [context.functionVersion, context.invokedFunctionArn];`,
        { name: "step:2" },
      ),
    );
    expect(await pool.invoke("step:1", {})).toEqual({ ok: true, payload: "one" });
    expect(await pool.invoke("step:2", {})).toEqual({
      ok: true,
      payload: ["2", "arn:aws:lambda:us-east-1:000000000000:function:step:2"],
    });
    expect(await pool.invoke("step:3", {})).toMatchObject({ ok: false, error: "Lambda.ResourceNotFoundException" });
  });

  it("tell what is registered where nothing has the name", async () => {
    const pool = poolWith(functionOf(`export const handler = async () => 1;`));
    expect(await pool.invoke("stp", {})).toEqual({
      ok: false,
      error: "Lambda.ResourceNotFoundException",
      cause: "Function not found: stp; registered are: step",
    });
  });

  it("are replaced by a later one, while what runs finishes with the old code", async () => {
    const { onLog, line } = lineWatcher();
    const folder = temporaryFolder();
    const old = `import { watch, existsSync } from "node:fs"; export const handler = async () => { console.log("running"); await new Promise((go) => watch(${JSON.stringify(folder)}, () => go())); return "old"; };`;
    const pool = poolWith(functionOf(old), { onLog });
    const running = pool.invoke("step", {});
    await line(/running/);
    pool.register(functionOf(`export const handler = async () => "new";`));
    expect(await pool.invoke("step", {})).toEqual({ ok: true, payload: "new" });
    writeFileSync(join(folder, "go"), "");
    expect(await running).toEqual({ ok: true, payload: "old" });
  });
});

describe("what a function prints", () => {
  it("goes to its log file and to whoever listens, line by line, with what ended it", async () => {
    const logsDir = temporaryFolder();
    const { onLog, line } = lineWatcher();
    const source = `export const handler = async () => { process.stdout.write("one\\ntw"); process.stdout.write("o\\n"); console.error("three"); process.exit(1); };`;
    const pool = poolWith(functionOf(source), { logsDir, onLog });
    await pool.invoke("step", {});
    await Promise.all([line(/^two$/), line(/^three$/), line(/Runtime\.ExitError/)]);
    const log = readFileSync(join(logsDir, "step.log"), "utf8").trimEnd().split("\n");
    expect(log).toEqual(expect.arrayContaining(["one", "two", "three", expect.stringContaining("exit status 1")]));
  });

  it("includes the fault of a handler, as Lambda logs it", async () => {
    const { onLog, line } = lineWatcher();
    const pool = poolWith(functionOf(`export const handler = async () => { throw new Error("seen"); };`), { onLog });
    await pool.invoke("step", {});
    expect(await line(/^Invoke Error /)).toContain(`"errorMessage":"seen"`);
  });
});

describe("stopping", () => {
  it("ends every process, fails what ran, and refuses what comes later", async () => {
    const { onLog, line } = lineWatcher();
    const pool = poolWith(functionOf(hangs), { onLog, concurrencyMax: 1 });
    const running = pool.invoke("step", {});
    const waiting = pool.invoke("step", {});
    await line(/running/);
    const [{ pid } = { pid: 0 }] = pool.processes("step");
    await pool.stop();
    expect(await running).toMatchObject({ ok: false, error: "Runtime.ExitError" });
    expect(await waiting).toMatchObject({ ok: false, error: "Lambda.ServiceException" });
    expect(await pool.invoke("step", {})).toMatchObject({ ok: false, error: "Lambda.ServiceException" });
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });
});
