import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { InvokeResult } from "../../../../infra/local/step-functions/invoke-port.ts";
import { StepFunctionsService } from "../../../../infra/local/step-functions/step-functions-service.ts";
import { startEngine } from "./engine.ts";
import { ManualTimers } from "./manual-timers.ts";
import { lambdaCause } from "./scripted-lambda.ts";
import { oneState, task } from "./states.ts";

const caught = { Caught: { Type: "Pass", End: true }, Other: { Type: "Fail", Error: "WrongCatcher" } };

describe("Retry", () => {
  test("calls again after the backoff until the function succeeds", async () => {
    const engine = await startEngine();
    const { finished, arn } = await engine.start(
      oneState(task({ Retry: [{ ErrorEquals: ["A"], IntervalSeconds: 2, BackoffRate: 3 }], OutputPath: "$.Payload" })),
    );
    (await engine.lambda.next()).fail("A");
    await engine.timers.advance(1_999);
    expect(engine.lambda.calls).toHaveLength(1);
    await engine.timers.advance(1);
    (await engine.lambda.next()).fail("A");
    await engine.timers.advance(6_000);
    (await engine.lambda.next()).succeed("third time");
    expect(await finished).toEqual({ status: "SUCCEEDED", output: '"third time"' });
    expect(engine.service.stateTransitions(arn)).toBe(3); // one state, two retries
  });
  test("draws its delay below the backoff with full jitter", async () => {
    const engine = await startEngine({ random: () => 0.25 });
    await engine.start(oneState(task({ Retry: [{ ErrorEquals: ["A"], IntervalSeconds: 8, JitterStrategy: "FULL" }] })));
    (await engine.lambda.next()).fail("A");
    await engine.timers.advance(2_000);
    expect(engine.lambda.calls).toHaveLength(2);
  });
  test("counts each retrier apart, and the first match decides (the guide's own example)", async () => {
    const engine = await startEngine();
    const retry = [
      { ErrorEquals: ["ErrorA", "ErrorB"], IntervalSeconds: 1, BackoffRate: 2, MaxAttempts: 2 },
      { ErrorEquals: ["ErrorC"], IntervalSeconds: 5 },
    ];
    const { finished } = await engine.start(
      oneState(task({ Retry: retry, Catch: [{ ErrorEquals: ["States.ALL"], Next: "Caught" }] }), {
        Caught: caught.Caught,
      }),
    );
    for (const [error, delayMs] of [
      ["ErrorA", 1_000],
      ["ErrorB", 2_000],
      ["ErrorC", 5_000],
    ] as const) {
      (await engine.lambda.next()).fail(error);
      await engine.timers.advance(delayMs);
    }
    (await engine.lambda.next()).fail("ErrorB");
    expect(await finished).toMatchObject({ status: "SUCCEEDED", output: expect.stringContaining('"Error":"ErrorB"') });
    expect(engine.lambda.calls).toHaveLength(4);
  });
  test("starts counting anew when the state is entered again", async () => {
    const engine = await startEngine();
    const definition = {
      StartAt: "Work",
      States: {
        Work: task({ Retry: [{ ErrorEquals: ["A"], MaxAttempts: 1 }], Catch: [{ ErrorEquals: ["A"], Next: "Again" }] }),
        Again: { Type: "Wait", Seconds: 0, Next: "Work" },
      },
    };
    await engine.start(definition);
    (await engine.lambda.next()).fail("A");
    await engine.timers.advance(1_000);
    (await engine.lambda.next()).fail("A"); // used up: caught, and back into the same state
    await engine.timers.advance(0);
    (await engine.lambda.next()).fail("A");
    await engine.timers.advance(1_000);
    expect(engine.lambda.calls).toHaveLength(4);
  });
});

describe("Catch", () => {
  test("puts Error and Cause at its ResultPath beside the raw input", async () => {
    const engine = await startEngine();
    const definition = oneState(
      task({
        InputPath: "$.inner",
        OutputPath: "$.gone",
        Catch: [{ ErrorEquals: ["A"], ResultPath: "$.failure", Next: "Caught" }],
      }),
      { Caught: caught.Caught },
    );
    const { finished } = await engine.start(definition, { inner: { x: 1 } });
    (await engine.lambda.next()).fail("A", "why");
    const end = await finished;
    expect(JSON.parse(end.status === "SUCCEEDED" ? end.output : "")).toEqual({
      inner: { x: 1 },
      failure: { Error: "A", Cause: lambdaCause("A", "why") },
    });
  });
  test("with ResultPath null passes the input on as it came", async () => {
    const engine = await startEngine();
    const { finished } = await engine.start(
      oneState(task({ Catch: [{ ErrorEquals: ["A"], ResultPath: null, Next: "Caught" }] }), { Caught: caught.Caught }),
      { x: 1 },
    );
    (await engine.lambda.next()).fail("A");
    expect(await finished).toEqual({ status: "SUCCEEDED", output: '{"x":1}' });
  });
  test("that names other errors lets the execution fail", async () => {
    const engine = await startEngine();
    const { finished } = await engine.start(
      oneState(task({ Catch: [{ ErrorEquals: ["B"], Next: "Caught" }] }), { Caught: caught.Caught }),
    );
    (await engine.lambda.next()).fail("A");
    expect(await finished).toMatchObject({ status: "FAILED", error: "A" });
  });
  test("by States.ALL does not stop an execution whose definition fails", async () => {
    const engine = await startEngine();
    const definition = oneState(
      task({
        ResultSelector: { "x.$": "$.Payload.nope" },
        Retry: [{ ErrorEquals: ["States.ALL"] }],
        Catch: [{ ErrorEquals: ["States.ALL"], Next: "Caught" }],
      }),
      { Caught: caught.Caught },
    );
    const { finished } = await engine.start(definition);
    (await engine.lambda.next()).succeed({});
    expect(await finished).toMatchObject({ status: "FAILED", error: "States.Runtime" });
  });
  test("takes a result that has no place in the input", async () => {
    const engine = await startEngine();
    const definition = oneState(
      task({
        ResultPath: "$.a.b",
        Catch: [{ ErrorEquals: ["States.ResultPathMatchFailure"], ResultPath: null, Next: "Caught" }],
      }),
      { Caught: caught.Caught },
    );
    const { finished } = await engine.start(definition, { a: "text" });
    (await engine.lambda.next()).succeed({});
    expect(await finished).toEqual({ status: "SUCCEEDED", output: '{"a":"text"}' });
  });
});

/** Runs one Task against a function that answers from a list (and then forever with its last), with time standing by. */
async function runToEnd(
  state: object,
  others: Record<string, object>,
  errors: readonly string[],
): Promise<{ end: unknown; calls: number }> {
  const timers = new ManualTimers();
  let calls = 0;
  let ids = 0;
  const invokeLambda = async (): Promise<InvokeResult> => {
    const error = errors[Math.min(calls, errors.length - 1)] ?? "A";
    calls += 1;
    return { ok: false, error, cause: "{}" };
  };
  const service = new StepFunctionsService({
    invokeLambda,
    timers,
    newId: () => `id-${(ids += 1)}`,
    random: () => 0.9,
  });
  const { stateMachineArn } = service.createStateMachine({
    name: "m",
    definition: JSON.stringify(oneState(state, others)),
  });
  const { executionArn } = service.startExecution({ stateMachineArn });
  await timers.advance(365 * 24 * 3_600_000);
  return { end: await service.finished(executionArn), calls };
}

const names = ["A", "B", "C", "States.Timeout"];

test("a function that always fails is called once more than its retriers allow, whatever they say", async () => {
  const retrier = fc.record({
    ErrorEquals: fc.uniqueArray(fc.constantFrom(...names, "States.TaskFailed"), { minLength: 1 }),
    MaxAttempts: fc.integer({ min: 0, max: 5 }),
    IntervalSeconds: fc.integer({ min: 1, max: 60 }),
    BackoffRate: fc.double({ min: 1, max: 3, noNaN: true }),
    JitterStrategy: fc.constantFrom("NONE", "FULL"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(retrier, { maxLength: 4 }), fc.constantFrom("A", "B", "C"), async (retriers, error) => {
      const { end, calls } = await runToEnd(task({ Retry: retriers }), {}, [error]);
      const first = retriers.find(
        ({ ErrorEquals }) => ErrorEquals.includes(error) || ErrorEquals.includes("States.TaskFailed"),
      );
      expect(calls).toBe((first?.MaxAttempts ?? 0) + 1);
      expect(end).toMatchObject({ status: "FAILED", error });
    }),
    { numRuns: 60 },
  );
});

test("any run of errors stays within the sum of all attempts", async () => {
  const retriers = names.map((name, index) => ({ ErrorEquals: [name], MaxAttempts: index }));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 12 }), async (errors) => {
      const { calls } = await runToEnd(task({ Retry: retriers }), {}, errors);
      expect(calls).toBeLessThanOrEqual(0 + 1 + 2 + 3 + 1);
    }),
    { numRuns: 60 },
  );
});

test("a caught error goes to the first catcher that matches it", async () => {
  const lists = fc.array(fc.uniqueArray(fc.constantFrom("A", "B", "C"), { minLength: 1 }), {
    minLength: 1,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(lists, fc.constantFrom("A", "B", "C"), async (errorLists, error) => {
      const catchers = errorLists.map((ErrorEquals, index) => ({ ErrorEquals, Next: `Catcher ${index}` }));
      const targets = Object.fromEntries(catchers.map(({ Next }) => [Next, { Type: "Fail", Error: Next }]));
      const { end } = await runToEnd(task({ Catch: catchers }), targets, [error]);
      const expected = errorLists.findIndex((list) => list.includes(error));
      expect(end).toMatchObject({ error: expected === -1 ? error : `Catcher ${expected}` });
    }),
    { numRuns: 60 },
  );
});
