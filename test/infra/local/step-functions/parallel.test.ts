import { SendTaskSuccessCommand } from "@aws-sdk/client-sfn";
import { describe, expect, test } from "vitest";
import { startEngine } from "./engine.ts";
import { settled } from "./manual-timers.ts";
import { callbackTask, oneState, task, tokenIn } from "./states.ts";

const branch = (name: string, state: object): object => ({ StartAt: name, States: { [name]: state } });
const step = (functionName: string): object =>
  task({ Parameters: { FunctionName: functionName, Payload: { "in.$": "$" } }, OutputPath: "$.Payload" });
const parallel = (fields: object, ...branches: object[]): object => ({
  Type: "Parallel",
  Branches: branches,
  ...("Next" in fields ? {} : { End: true }),
  ...fields,
});

describe("a Parallel state", () => {
  test("gives every branch the same input and returns their results in order, not in the order they end", async () => {
    const engine = await startEngine();
    const state = parallel({ ResultPath: "$.both" }, branch("First", step("one")), branch("Second", step("two")));
    const { finished } = await engine.start(oneState(state), { x: 1 });
    const one = await engine.lambda.next();
    const two = await engine.lambda.next();
    expect([one.payload, two.payload]).toEqual([{ in: { x: 1 } }, { in: { x: 1 } }]);
    two.succeed("second");
    await settled();
    one.succeed("first");
    expect(await finished).toEqual({ status: "SUCCEEDED", output: '{"x":1,"both":["first","second"]}' });
  });
  test("shapes the branches' input and its own result", async () => {
    const engine = await startEngine();
    const state = parallel(
      { Parameters: { "y.$": "$.x" }, ResultSelector: { "head.$": "$[0]" } },
      branch("Echo", { Type: "Pass", End: true }),
    );
    const { finished } = await engine.start(oneState(state), { x: 1 });
    expect(await finished).toEqual({ status: "SUCCEEDED", output: '{"head":{"y":1}}' });
  });
  test("stops the other branches when one fails, and their late answers leave no trace", async () => {
    const engine = await startEngine();
    const state = parallel(
      {},
      branch("Works", step("slow")),
      branch("Fails", step("broken")),
      branch("Sleeps", { Type: "Wait", Seconds: 60, End: true }),
    );
    const { finished, eventTypes } = await engine.start(oneState(state));
    const slow = await engine.lambda.next();
    (await engine.lambda.next()).fail("Broken");
    expect(await finished).toMatchObject({ status: "FAILED", error: "Broken" });
    const before = await eventTypes();
    slow.succeed();
    await engine.timers.advance(60_000);
    expect(await eventTypes()).toEqual(before);
    expect(engine.timers.waiting).toBe(0);
  });
  test("stops a branch between two states that take no time", async () => {
    const engine = await startEngine();
    const names = Array.from({ length: 50 }, (_, index) => `Pass ${index}`);
    const states = names.map((name, index) => {
      const next = names[index + 1];
      return [name, { Type: "Pass", ...(next === undefined ? { End: true } : { Next: next }) }];
    });
    const long = { StartAt: "Pass 0", States: Object.fromEntries(states) };
    const state = parallel({}, long, branch("Fails", { Type: "Fail", Error: "Broken" }));
    const { finished, eventTypes } = await engine.start(oneState(state));
    await finished;
    await settled();
    const types = await eventTypes();
    expect(types.slice(-2)).toEqual(["ParallelStateFailed", "ExecutionFailed"]);
    expect(types.filter((type) => type === "PassStateEntered").length).toBeLessThan(50);
  });
  test("closes the token of a branch that it stops", async () => {
    const engine = await startEngine();
    const state = parallel(
      { Catch: [{ ErrorEquals: ["Broken"], Next: "Pause" }], Next: "Pause" },
      branch("Asks", callbackTask()),
      branch("Fails", step("broken")),
    );
    await engine.start(oneState(state, { Pause: { Type: "Wait", Seconds: 60, End: true } }));
    const ask = await engine.lambda.next();
    (await engine.lambda.next()).fail("Broken");
    await settled();
    const answer = engine.sfn.send(new SendTaskSuccessCommand({ taskToken: tokenIn(ask.payload), output: "{}" }));
    await expect(answer).rejects.toMatchObject({ name: "TaskTimedOut" });
  });
  test("is caught by the branch's own error, a Fail state's included", async () => {
    const engine = await startEngine();
    const state = parallel(
      { Catch: [{ ErrorEquals: ["Refused"], ResultPath: "$.failure", Next: "Caught" }], Next: "Caught" },
      branch("Fails", { Type: "Fail", Error: "Refused", Cause: "no" }),
    );
    const { finished } = await engine.start(oneState(state, { Caught: { Type: "Succeed" } }), { x: 1 });
    expect(await finished).toEqual({
      status: "SUCCEEDED",
      output: '{"x":1,"failure":{"Error":"Refused","Cause":"no"}}',
    });
  });
  test("starts all branches again on a retry", async () => {
    const engine = await startEngine();
    const state = parallel(
      { Retry: [{ ErrorEquals: ["Broken"], MaxAttempts: 1 }] },
      branch("First", step("one")),
      branch("Second", step("two")),
    );
    const { finished, arn } = await engine.start(oneState(state));
    await engine.lambda.next();
    (await engine.lambda.next()).fail("Broken");
    await engine.timers.advance(1_000);
    (await engine.lambda.next()).succeed(1);
    (await engine.lambda.next()).succeed(2);
    expect(await finished).toEqual({ status: "SUCCEEDED", output: "[1,2]" });
    expect(engine.lambda.calls.map(({ functionName }) => functionName)).toEqual(["one", "two", "one", "two"]);
    expect(engine.service.stateTransitions(arn)).toBe(6); // Parallel, two branches, one retry, two branches
  });
  test("lets a branch retry and catch on its own", async () => {
    const engine = await startEngine();
    const inner = {
      StartAt: "Tries",
      States: {
        Tries: task({
          Retry: [{ ErrorEquals: ["A"], MaxAttempts: 1 }],
          Catch: [{ ErrorEquals: ["A"], ResultPath: null, Next: "Rescued" }],
        }),
        Rescued: { Type: "Pass", Result: "rescued", End: true },
      },
    };
    const { finished } = await engine.start(
      oneState(parallel({}, inner, branch("Fine", { Type: "Pass", Result: "fine", End: true }))),
    );
    (await engine.lambda.next()).fail("A");
    await engine.timers.advance(1_000);
    (await engine.lambda.next()).fail("A");
    expect(await finished).toEqual({ status: "SUCCEEDED", output: '["rescued","fine"]' });
  });
});
