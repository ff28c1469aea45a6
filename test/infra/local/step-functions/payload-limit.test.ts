import { SendTaskSuccessCommand, StartExecutionCommand } from "@aws-sdk/client-sfn";
import { describe, expect, test } from "vitest";
import { startEngine } from "./engine.ts";
import { settled } from "./manual-timers.ts";
import { callbackTask, oneState, task, tokenIn } from "./states.ts";

const limitBytes = 262_144;
/** JSON text of exactly that many bytes: a string of `x` and its quotes. */
const textOf = (bytes: number): string => "x".repeat(bytes - 2);
const catchAll = { ErrorEquals: ["States.ALL"], Next: "Caught" };
const catchLimit = { ErrorEquals: ["States.DataLimitExceeded"], ResultPath: null, Next: "Caught" };
const caught = { Caught: { Type: "Succeed" } };

describe("256 KiB of UTF-8", () => {
  test("is allowed as a state's output, and one byte more is States.DataLimitExceeded", async () => {
    const engine = await startEngine();
    const exact = await engine.start(oneState({ Type: "Pass", Result: textOf(limitBytes), End: true }));
    expect(await exact.finished).toMatchObject({ status: "SUCCEEDED" });
    const over = await engine.start(oneState({ Type: "Pass", Result: textOf(limitBytes + 1), End: true }));
    expect(await over.finished).toMatchObject({ status: "FAILED", error: "States.DataLimitExceeded" });
  });
  test("is counted in bytes, not in characters", async () => {
    const engine = await startEngine();
    const { finished } = await engine.start(oneState({ Type: "Pass", Result: "ü".repeat(limitBytes / 2), End: true }));
    expect(await finished).toMatchObject({ status: "FAILED", error: "States.DataLimitExceeded" });
  });
  test("bounds what a function returns, as a failure of its Task that States.ALL does not catch", async () => {
    const engine = await startEngine();
    const run = await engine.start(
      oneState(task({ ResultPath: null, Retry: [{ ErrorEquals: ["States.ALL"] }], Catch: [catchAll] }), caught),
    );
    (await engine.lambda.next()).succeed(textOf(limitBytes));
    expect(await run.finished).toMatchObject({ status: "FAILED", error: "States.DataLimitExceeded" });
    expect((await run.eventTypes()).slice(-2)).toEqual(["TaskFailed", "ExecutionFailed"]);
  });
  test("is caught by its own name", async () => {
    const engine = await startEngine();
    const { finished } = await engine.start(oneState(task({ ResultPath: null, Catch: [catchLimit] }), caught), {
      x: 1,
    });
    (await engine.lambda.next()).succeed(textOf(limitBytes));
    expect(await finished).toEqual({ status: "SUCCEEDED", output: '{"x":1}' });
  });
  test("bounds what a Task asks of its function, before it is called", async () => {
    const engine = await startEngine();
    const twice = { FunctionName: "step", Payload: { "a.$": "$.text", "b.$": "$.text" } };
    const { finished } = await engine.start(oneState(task({ Parameters: twice, Catch: [catchLimit] }), caught), {
      text: textOf(140_000),
    });
    expect(await finished).toMatchObject({ status: "SUCCEEDED" });
    expect(engine.lambda.calls).toHaveLength(0);
  });
  test("bounds a result together with the input it is put into, and that too is caught by its name", async () => {
    const engine = await startEngine();
    const state = task({ ResultPath: "$.result", Catch: [{ ...catchLimit, ResultPath: "$.text" }] });
    const { finished } = await engine.start(oneState(state, caught), { text: textOf(140_000) });
    (await engine.lambda.next()).succeed(textOf(140_000));
    expect(await finished).toMatchObject({
      status: "SUCCEEDED",
      output: expect.stringContaining('"Error":"States.DataLimitExceeded"'),
    });
  });
  test("bounds the results of all branches together", async () => {
    const engine = await startEngine();
    const branch = (name: string): object => ({
      StartAt: name,
      States: { [name]: { Type: "Pass", Result: textOf(140_000), End: true } },
    });
    const { finished } = await engine.start(
      oneState({ Type: "Parallel", Branches: [branch("A"), branch("B")], End: true }),
    );
    expect(await finished).toMatchObject({ status: "FAILED", error: "States.DataLimitExceeded" });
  });
  test("bounds the input of an execution and the answer to a token at the door", async () => {
    const engine = await startEngine();
    const stateMachineArn = await engine.create(oneState(callbackTask()));
    const start = engine.sfn.send(
      new StartExecutionCommand({ stateMachineArn, input: JSON.stringify(textOf(limitBytes + 1)) }),
    );
    await expect(start).rejects.toMatchObject({
      name: "ValidationException",
      message: "input: expected at most 262144 bytes, found 262145",
    });
    await engine.sfn.send(new StartExecutionCommand({ stateMachineArn, input: JSON.stringify(textOf(limitBytes)) }));
    const call = await engine.lambda.next();
    call.succeed();
    await settled();
    const answer = engine.sfn.send(
      new SendTaskSuccessCommand({ taskToken: tokenIn(call.payload), output: JSON.stringify(textOf(limitBytes + 1)) }),
    );
    await expect(answer).rejects.toMatchObject({ name: "ValidationException" });
  });
});
