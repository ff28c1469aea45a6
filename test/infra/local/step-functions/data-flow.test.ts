import { describe, expect, test } from "vitest";
import { startEngine } from "./engine.ts";
import { oneState, task } from "./states.ts";

/** The output of one Pass state, as the execution's own output. */
async function outputOf(state: object, input: unknown): Promise<unknown> {
  const engine = await startEngine();
  const { finished } = await engine.start(oneState({ Type: "Pass", End: true, ...state }), input);
  const end = await finished;
  return end.status === "SUCCEEDED" ? JSON.parse(end.output) : end;
}

describe("data through a state", () => {
  test.each<[string, object, unknown, unknown]>([
    ["passes unchanged without any field", {}, { a: 1 }, { a: 1 }],
    ["InputPath narrows what the state sees", { InputPath: "$.a" }, { a: { b: 1 }, c: 2 }, { b: 1 }],
    ["InputPath null gives an empty object", { InputPath: null }, { a: 1 }, {}],
    ["InputPath can read the context", { InputPath: "$$.Execution.Input" }, { a: 1 }, { a: 1 }],
    ["OutputPath narrows what leaves", { OutputPath: "$.a" }, { a: [1] }, [1]],
    ["OutputPath null gives an empty object", { OutputPath: null }, { a: 1 }, {}],
    [
      "Parameters see the narrowed input",
      { InputPath: "$.a", Parameters: { "x.$": "$.b", y: 2 } },
      { a: { b: 1 } },
      { x: 1, y: 2 },
    ],
    ["Result replaces the input", { Result: [1, 2] }, { a: 1 }, [1, 2]],
    ["Result may be null", { Result: null }, { a: 1 }, null],
    [
      "ResultPath puts the result into the raw input, not the narrowed one",
      { InputPath: "$.a", Result: 7, ResultPath: "$.r" },
      { a: { b: 1 }, c: 2 },
      { a: { b: 1 }, c: 2, r: 7 },
    ],
    ["ResultPath null drops the result", { Result: 7, ResultPath: null }, { a: 1 }, { a: 1 }],
    ["OutputPath comes after ResultPath", { Result: 7, ResultPath: "$.r", OutputPath: "$.r" }, { a: 1 }, 7],
  ])("%s", async (_title, state, input, expected) => {
    expect(await outputOf(state, input)).toEqual(expected);
  });

  test("a path that selects nothing ends the execution as States.Runtime with state, field and input named", async () => {
    expect(await outputOf({ Parameters: { "x.$": "$.nope" } }, { a: 1 })).toEqual({
      status: "FAILED",
      error: "States.Runtime",
      cause: `An error occurred while executing the state 'Only' (entered at the event id #2). The JSONPath '$.nope' specified for the field 'x.$' could not be found in the input '{"a":1}'`,
    });
  });
  test("a ResultPath with no place in the input is States.ResultPathMatchFailure", async () => {
    expect(await outputOf({ Result: 1, ResultPath: "$.a.b" }, { a: "text" })).toMatchObject({
      error: "States.ResultPathMatchFailure",
    });
  });
});

test("a Task's result has the shape of the service's own lambda:invoke", async () => {
  const engine = await startEngine();
  const { finished } = await engine.start(oneState(task()), { a: 1 });
  const call = await engine.lambda.next();
  expect(call).toMatchObject({ functionName: "step", payload: { input: { a: 1 } } });
  call.succeed({ answer: 42 });
  const end = await finished;
  expect(JSON.parse(end.status === "SUCCEEDED" ? end.output : "")).toEqual({
    ExecutedVersion: "$LATEST",
    Payload: { answer: 42 },
    SdkHttpMetadata: { AllHttpHeaders: {}, HttpHeaders: {}, HttpStatusCode: 200 },
    SdkResponseMetadata: { RequestId: expect.any(String) },
    StatusCode: 200,
  });
});

test("a Task selects from its result, places it and keeps the rest of the input", async () => {
  const engine = await startEngine();
  const definition = oneState(task({ ResultSelector: { "next.$": "$.Payload.next" }, ResultPath: "$.step" }));
  const { finished } = await engine.start(definition, { run_id: "r" });
  (await engine.lambda.next()).succeed({ next: "refund", secret: "dropped" });
  expect(await finished).toEqual({ status: "SUCCEEDED", output: '{"run_id":"r","step":{"next":"refund"}}' });
});

test("a function without an answer gives null, and one called without Payload receives an empty object", async () => {
  const engine = await startEngine();
  const { finished } = await engine.start(
    oneState(task({ Parameters: { FunctionName: "step" }, OutputPath: "$.Payload" })),
  );
  const call = await engine.lambda.next();
  expect(call.payload).toEqual({});
  call.succeed(null);
  expect(await finished).toEqual({ status: "SUCCEEDED", output: "null" });
});

test("the function's name may come from the input, and one that is no name is States.Runtime", async () => {
  const engine = await startEngine();
  const definition = oneState(task({ Parameters: { "FunctionName.$": "$.function", Payload: {} } }));
  await engine.start(definition, { function: "settle" });
  expect((await engine.lambda.next()).functionName).toBe("settle");
  const { finished } = await engine.start(definition, { function: 7 });
  expect(await finished).toMatchObject({ status: "FAILED", error: "States.Runtime" });
});

test("the context object says which execution, state and attempt this is", async () => {
  const engine = await startEngine();
  const payload = {
    "execution.$": "$$.Execution.Name",
    "id.$": "$$.Execution.Id",
    "input.$": "$$.Execution.Input",
    "started.$": "$$.Execution.StartTime",
    "state.$": "$$.State.Name",
    "entered.$": "$$.State.EnteredTime",
    "retries.$": "$$.State.RetryCount",
    "machine.$": "$$.StateMachine.Name",
  };
  const definition = {
    StartAt: "Pause",
    States: {
      Pause: { Type: "Wait", Seconds: 60, Next: "Work" },
      Work: task({
        Parameters: { FunctionName: "step", Payload: payload },
        Retry: [{ ErrorEquals: ["A"], IntervalSeconds: 5 }],
      }),
    },
  };
  const { arn } = await engine.start(definition, { a: 1 }, "run-1.1");
  await engine.timers.advance(60_000);
  const first = await engine.lambda.next();
  const seen = {
    execution: "run-1.1",
    id: arn,
    input: { a: 1 },
    started: "2026-09-02T12:00:00.000Z",
    state: "Work",
    entered: "2026-09-02T12:01:00.000Z",
    retries: 0,
    machine: "machine-1",
  };
  expect(first.payload).toEqual(seen);
  first.fail("A");
  await engine.timers.advance(5_000);
  expect((await engine.lambda.next()).payload).toEqual({ ...seen, retries: 1 });
});

describe("a Choice", () => {
  const branches = { Yes: { Type: "Pass", Result: "yes", End: true }, No: { Type: "Pass", Result: "no", End: true } };
  const rule = (condition: object): object =>
    oneState({ Type: "Choice", Choices: [{ ...condition, Next: "Yes" }], Default: "No" }, branches);
  const isX = { Variable: "$.a", StringEquals: "x" };
  const present = { Variable: "$.a", IsPresent: true };

  test.each<[string, object, unknown, string]>([
    ["equal text", isX, { a: "x" }, "yes"],
    ["other text", isX, { a: "y" }, "no"],
    ["something that is no text", isX, { a: 1 }, "no"],
    ["a field that is there, even if null", present, { a: null }, "yes"],
    ["a field that is missing", present, {}, "no"],
    ["absence asked for", { Variable: "$.a", IsPresent: false }, {}, "yes"],
    ["And with a guard before a missing field", { And: [present, isX] }, {}, "no"],
    ["And of two that hold", { And: [present, isX] }, { a: "x" }, "yes"],
    ["Or of which one holds", { Or: [isX, { Variable: "$.a", StringEquals: "y" }] }, { a: "y" }, "yes"],
    ["Not", { Not: isX }, { a: "y" }, "yes"],
    ["the context", { Variable: "$$.Execution.Name", StringEquals: "chosen" }, {}, "yes"],
  ])("%s", async (_title, condition, input, expected) => {
    const engine = await startEngine();
    const { finished } = await engine.start(rule(condition), input, "chosen");
    expect(await finished).toEqual({ status: "SUCCEEDED", output: JSON.stringify(expected) });
  });

  test("takes the first rule that holds and passes its own output on", async () => {
    const engine = await startEngine();
    const choice = {
      Type: "Choice",
      InputPath: "$.in",
      Choices: [
        { Variable: "$.a", StringEquals: "x", Next: "First" },
        { Variable: "$.a", IsPresent: true, Next: "Second" },
      ],
    };
    const { finished } = await engine.start(
      oneState(choice, { First: { Type: "Succeed" }, Second: { Type: "Succeed" } }),
      { in: { a: "x" } },
    );
    expect(await finished).toEqual({ status: "SUCCEEDED", output: '{"a":"x"}' });
  });
  test("without a match and without a Default fails as States.NoChoiceMatched", async () => {
    const engine = await startEngine();
    const choice = { Type: "Choice", Choices: [{ ...isX, Next: "Yes" }] };
    const { finished } = await engine.start(oneState(choice, { Yes: { Type: "Succeed" } }), { a: "y" });
    expect(await finished).toMatchObject({ status: "FAILED", error: "States.NoChoiceMatched" });
  });
  test("over a missing field fails as States.Runtime", async () => {
    const engine = await startEngine();
    const { finished } = await engine.start(rule(isX), {});
    expect(await finished).toMatchObject({ status: "FAILED", error: "States.Runtime" });
  });
});

describe("a Wait", () => {
  test("ends not a millisecond before its time and passes its input on", async () => {
    const engine = await startEngine();
    const started = await engine.start(oneState({ Type: "Wait", Seconds: 10, End: true }), { a: 1 });
    await engine.timers.advance(9_999);
    expect(await started.eventTypes()).toEqual(["ExecutionStarted", "WaitStateEntered"]);
    await engine.timers.advance(1);
    expect(await started.finished).toEqual({ status: "SUCCEEDED", output: '{"a":1}' });
  });
  test("may take its time from the input", async () => {
    const engine = await startEngine();
    const { finished } = await engine.start(oneState({ Type: "Wait", SecondsPath: "$.pause", End: true }), {
      pause: 3,
    });
    await engine.timers.advance(3_000);
    expect(await finished).toMatchObject({ status: "SUCCEEDED" });
  });
  test.each([-1, 1.5, "3", null])("refuses %j as its time", async (pause) => {
    const engine = await startEngine();
    const { finished } = await engine.start(oneState({ Type: "Wait", SecondsPath: "$.pause", End: true }), { pause });
    expect(await finished).toMatchObject({ status: "FAILED", error: "States.Runtime" });
  });
});

test("a Fail state ends the execution with its own error and cause", async () => {
  const engine = await startEngine();
  const { finished } = await engine.start(oneState({ Type: "Fail", Error: "Refused", Cause: "not today" }));
  expect(await finished).toEqual({ status: "FAILED", error: "Refused", cause: "not today" });
});
