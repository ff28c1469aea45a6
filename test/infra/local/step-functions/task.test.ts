import { SendTaskFailureCommand, SendTaskHeartbeatCommand, SendTaskSuccessCommand } from "@aws-sdk/client-sfn";
import { describe, expect, test } from "vitest";
import { startEngine, type Engine } from "./engine.ts";
import { lambdaCause } from "./scripted-lambda.ts";
import { settled } from "./manual-timers.ts";
import { callbackTask, oneState, task, tokenIn } from "./states.ts";

const done = { Done: { Type: "Pass", End: true } };

describe("a function that fails", () => {
  test("fails its Task with the error's type as Error and Lambda's JSON as Cause", async () => {
    const engine = await startEngine();
    const { finished } = await engine.start(oneState(task()));
    (await engine.lambda.next()).fail("surefoot.final.plan", "no budget");
    expect(await finished).toEqual({
      status: "FAILED",
      error: "surefoot.final.plan",
      cause: '{"errorType":"surefoot.final.plan","errorMessage":"no budget","trace":[]}',
    });
  });
  test.each(["Sandbox.Timedout", "Runtime.ExitError", "Lambda.Unknown"])(
    "by the platform's own hand keeps the name %s",
    async (error) => {
      const engine = await startEngine();
      const { finished } = await engine.start(oneState(task()));
      (await engine.lambda.next()).fail(error);
      expect(await finished).toMatchObject({ status: "FAILED", error });
    },
  );
  test("without any result at all is Lambda.Unknown", async () => {
    const engine = await startEngine();
    const { finished } = await engine.start(oneState(task()));
    (await engine.lambda.next()).reject(new Error("the runner lost it"));
    expect(await finished).toMatchObject({
      status: "FAILED",
      error: "Lambda.Unknown",
      cause: expect.stringContaining("the runner lost it"),
    });
  });
});

describe("TimeoutSeconds", () => {
  test("ends a Task as States.Timeout and the late answer changes nothing", async () => {
    const engine = await startEngine();
    const definition = oneState(
      task({ TimeoutSeconds: 30, Catch: [{ ErrorEquals: ["States.Timeout"], Next: "Done" }] }),
      done,
    );
    const { finished, eventTypes } = await engine.start(definition);
    const call = await engine.lambda.next();
    await engine.timers.advance(30_000);
    expect(await finished).toEqual({ status: "SUCCEEDED", output: '{"Error":"States.Timeout","Cause":""}' });
    const before = await eventTypes();
    call.succeed({ late: true });
    await settled();
    expect(await eventTypes()).toEqual(before);
  });
  test("leaves no timer behind once the function has answered", async () => {
    const engine = await startEngine();
    const { finished } = await engine.start(oneState(task({ TimeoutSeconds: 30 })));
    expect(engine.timers.waiting).toBe(1);
    (await engine.lambda.next()).succeed();
    await finished;
    expect(engine.timers.waiting).toBe(0);
  });
  test("counts anew for every retry", async () => {
    const engine = await startEngine();
    const { finished } = await engine.start(
      oneState(task({ TimeoutSeconds: 10, Retry: [{ ErrorEquals: ["States.Timeout"], MaxAttempts: 1 }] })),
    );
    await engine.timers.advance(10_000 + 1_000 + 9_999);
    expect(engine.lambda.calls).toHaveLength(2);
    engine.lambda.calls[1]?.succeed({ ok: true });
    expect(await finished).toMatchObject({ status: "SUCCEEDED" });
  });
});

/** A callback Task whose function has returned, so that only its token can end it. */
async function waiting(
  engine: Engine,
  fields: object = {},
): Promise<{ token: string; run: Awaited<ReturnType<Engine["start"]>> }> {
  const run = await engine.start(oneState(callbackTask(fields), "Catch" in fields ? done : {}));
  const call = await engine.lambda.next();
  call.succeed({ ignored: true });
  await settled();
  return { token: tokenIn(call.payload), run };
}

describe("a callback Task", () => {
  test("ends with what its token's answer says and ignores what the function returned", async () => {
    const engine = await startEngine();
    const { token, run } = await waiting(engine);
    await engine.sfn.send(new SendTaskSuccessCommand({ taskToken: token, output: '{"approved":true}' }));
    expect(await run.finished).toEqual({ status: "SUCCEEDED", output: '{"approved":true}' });
  });
  test("fails with the error and cause its token was given", async () => {
    const engine = await startEngine();
    const { token, run } = await waiting(engine);
    await engine.sfn.send(
      new SendTaskFailureCommand({ taskToken: token, error: "surefoot.rejected", cause: "too expensive" }),
    );
    expect(await run.finished).toEqual({ status: "FAILED", error: "surefoot.rejected", cause: "too expensive" });
  });
  test("that is failed without a name reaches its catcher with empty texts", async () => {
    const engine = await startEngine();
    const { token, run } = await waiting(engine, { Catch: [{ ErrorEquals: ["States.ALL"], Next: "Done" }] });
    await engine.sfn.send(new SendTaskFailureCommand({ taskToken: token }));
    expect(await run.finished).toEqual({ status: "SUCCEEDED", output: '{"Error":"","Cause":""}' });
  });
  test("fails when its function fails, and the token dies with it", async () => {
    const engine = await startEngine();
    const { finished } = await engine.start(oneState(callbackTask()));
    const call = await engine.lambda.next();
    call.fail("surefoot.stale", "not mine");
    expect(await finished).toEqual({
      status: "FAILED",
      error: "surefoot.stale",
      cause: lambdaCause("surefoot.stale", "not mine"),
    });
    const late = engine.sfn.send(new SendTaskSuccessCommand({ taskToken: tokenIn(call.payload), output: "{}" }));
    await expect(late).rejects.toMatchObject({ name: "TaskTimedOut" });
  });
  test("keeps an answer that comes before its function has returned", async () => {
    const engine = await startEngine();
    const { finished, eventTypes } = await engine.start(oneState(callbackTask({ HeartbeatSeconds: 5 })));
    const call = await engine.lambda.next();
    await engine.sfn.send(new SendTaskSuccessCommand({ taskToken: tokenIn(call.payload), output: '"early"' }));
    expect(await eventTypes()).toEqual(["ExecutionStarted", "TaskStateEntered", "TaskScheduled", "TaskStarted"]);
    await engine.timers.advance(60_000); // no heartbeat is due any more
    call.succeed();
    expect(await finished).toEqual({ status: "SUCCEEDED", output: '"early"' });
  });
  test("is answered once: the second answer is refused as TaskTimedOut", async () => {
    const engine = await startEngine();
    const { token, run } = await waiting(engine);
    await engine.sfn.send(new SendTaskSuccessCommand({ taskToken: token, output: "1" }));
    const second = engine.sfn.send(new SendTaskSuccessCommand({ taskToken: token, output: "2" }));
    await expect(second).rejects.toMatchObject({ name: "TaskTimedOut" });
    expect(await run.finished).toEqual({ status: "SUCCEEDED", output: "1" });
  });
  test("refuses a second answer even while its function still runs", async () => {
    const engine = await startEngine();
    const { finished } = await engine.start(oneState(callbackTask()));
    const call = await engine.lambda.next();
    const taskToken = tokenIn(call.payload);
    await engine.sfn.send(new SendTaskSuccessCommand({ taskToken, output: "1" }));
    const second = engine.sfn.send(new SendTaskFailureCommand({ taskToken, error: "Late" }));
    await expect(second).rejects.toMatchObject({ name: "TaskTimedOut" });
    call.succeed();
    expect(await finished).toEqual({ status: "SUCCEEDED", output: "1" });
  });
  test("that timed out while its function ran takes no notice of the function's return", async () => {
    const engine = await startEngine();
    const catches = [{ ErrorEquals: ["States.Timeout"], Next: "Pause" }];
    const definition = oneState(callbackTask({ TimeoutSeconds: 1, Catch: catches }), {
      Pause: { Type: "Wait", Seconds: 60, End: true },
    });
    const { eventTypes } = await engine.start(definition);
    const call = await engine.lambda.next();
    await engine.timers.advance(1_000);
    call.succeed();
    await settled();
    expect((await eventTypes()).slice(-3)).toEqual(["TaskTimedOut", "TaskStateExited", "WaitStateEntered"]);
  });
  test("has a new token for every attempt, and the old one is refused", async () => {
    const engine = await startEngine();
    await engine.start(oneState(callbackTask({ Retry: [{ ErrorEquals: ["A"] }] })));
    const first = await engine.lambda.next();
    first.fail("A");
    await engine.timers.advance(1_000);
    const second = await engine.lambda.next();
    expect(tokenIn(second.payload)).not.toBe(tokenIn(first.payload));
    const stale = engine.sfn.send(new SendTaskSuccessCommand({ taskToken: tokenIn(first.payload), output: "{}" }));
    await expect(stale).rejects.toMatchObject({ name: "TaskTimedOut" });
  });
  test("that waits longer than TimeoutSeconds is States.Timeout, and its token is closed", async () => {
    const engine = await startEngine();
    const { token, run } = await waiting(engine, { TimeoutSeconds: 604_800 });
    await engine.timers.advance(604_800_000);
    expect(await run.finished).toMatchObject({ status: "FAILED", error: "States.Timeout" });
    await expect(engine.sfn.send(new SendTaskHeartbeatCommand({ taskToken: token }))).rejects.toMatchObject({
      name: "TaskTimedOut",
    });
  });
});

describe("HeartbeatSeconds", () => {
  test("ends a silent Task as States.HeartbeatTimeout", async () => {
    const engine = await startEngine();
    const { run } = await waiting(engine, { HeartbeatSeconds: 10 });
    await engine.timers.advance(10_000);
    expect(await run.finished).toMatchObject({ status: "FAILED", error: "States.HeartbeatTimeout" });
  });
  test("counts from the last heartbeat", async () => {
    const engine = await startEngine();
    const { token, run } = await waiting(engine, { HeartbeatSeconds: 10 });
    await engine.timers.advance(9_000);
    await engine.sfn.send(new SendTaskHeartbeatCommand({ taskToken: token }));
    await engine.timers.advance(9_999);
    await engine.sfn.send(new SendTaskSuccessCommand({ taskToken: token, output: "true" }));
    expect(await run.finished).toEqual({ status: "SUCCEEDED", output: "true" });
  });
  test("does not lengthen TimeoutSeconds", async () => {
    const engine = await startEngine();
    const { token, run } = await waiting(engine, { HeartbeatSeconds: 10, TimeoutSeconds: 15 });
    await engine.timers.advance(9_000);
    await engine.sfn.send(new SendTaskHeartbeatCommand({ taskToken: token }));
    await engine.timers.advance(6_000);
    expect(await run.finished).toMatchObject({ status: "FAILED", error: "States.Timeout" });
  });
  test("is caught by States.Timeout too", async () => {
    const engine = await startEngine();
    const { run } = await waiting(engine, {
      HeartbeatSeconds: 10,
      Catch: [{ ErrorEquals: ["States.Timeout"], Next: "Done" }],
    });
    await engine.timers.advance(10_000);
    expect(await run.finished).toEqual({
      status: "SUCCEEDED",
      output: '{"Error":"States.HeartbeatTimeout","Cause":""}',
    });
  });
});

describe("a token", () => {
  test("that is not one of ours is InvalidToken", async () => {
    const engine = await startEngine();
    const send = engine.sfn.send(new SendTaskSuccessCommand({ taskToken: "guess", output: "{}" }));
    await expect(send).rejects.toMatchObject({ name: "InvalidToken" });
  });
  test("that looks like ours but was never given out is TaskDoesNotExist", async () => {
    const engine = await startEngine();
    const { token } = await waiting(engine);
    const send = engine.sfn.send(new SendTaskFailureCommand({ taskToken: `${token}x` }));
    await expect(send).rejects.toMatchObject({ name: "TaskDoesNotExist" });
  });
  test("of a stopped execution is refused as TaskTimedOut", async () => {
    const engine = await startEngine();
    const { token, run } = await waiting(engine);
    engine.service.stopExecution({ executionArn: run.arn });
    await expect(engine.sfn.send(new SendTaskHeartbeatCommand({ taskToken: token }))).rejects.toMatchObject({
      name: "TaskTimedOut",
    });
  });
  test("is not spent by an answer that is no JSON", async () => {
    const engine = await startEngine();
    const { token, run } = await waiting(engine);
    const broken = engine.sfn.send(new SendTaskSuccessCommand({ taskToken: token, output: "{" }));
    await expect(broken).rejects.toMatchObject({ name: "InvalidOutput" });
    await engine.sfn.send(new SendTaskSuccessCommand({ taskToken: token, output: "{}" }));
    expect(await run.finished).toMatchObject({ status: "SUCCEEDED" });
  });
});
