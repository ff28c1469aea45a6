import { describe, expect, test } from "vitest";
import { DefinitionError, parseDefinition } from "../../../../infra/local/step-functions/definition.ts";
import { callbackTask, oneState, task } from "./states.ts";

function problemsOf(definition: unknown): readonly string[] {
  try {
    parseDefinition(definition);
    return [];
  } catch (thrown) {
    if (thrown instanceof DefinitionError) return thrown.problems;
    throw thrown;
  }
}

const succeed = { Type: "Succeed" };

describe("a definition outside the subset is refused with its state and field", () => {
  test.each([
    [
      "an unknown state type",
      oneState({ Type: "Map", End: true }),
      "state Only, field Type: expected one of Choice, Task",
    ],
    ["an unknown field", oneState({ ...task(), Assign: {} }), "state Only, field Assign: not supported here"],
    ["JSONata", { QueryLanguage: "JSONata", ...oneState(succeed) }, "the definition, field QueryLanguage"],
    [
      "another service",
      oneState(task({ Resource: "arn:aws:states:::sqs:sendMessage" })),
      "state Only, field Resource: Invalid option: expected one of",
    ],
    [
      "another Lambda argument",
      oneState(task({ Parameters: { FunctionName: "step", InvocationType: "Event" } })),
      "state Only, field Parameters.InvocationType: expected only FunctionName",
    ],
    [
      "a Task without a function",
      oneState(task({ Parameters: {} })),
      "state Only, field Parameters.FunctionName: expected the function's name or ARN",
    ],
    [
      "a placeholder nobody filled",
      oneState(task({ Parameters: { FunctionName: "${StepFunctionArn}" } })),
      "found the placeholder ${StepFunctionArn}",
    ],
    [
      "an intrinsic function",
      oneState(task({ Parameters: { FunctionName: "step", Payload: { "id.$": "States.UUID()" } } })),
      "state Only, field Parameters.Payload.id.$: expected a path, found the intrinsic function States.UUID()",
    ],
    [
      "a filter path",
      oneState({ Type: "Pass", InputPath: "$.items[?(@.price > 3)]", End: true }),
      "state Only, field InputPath: expected only .name, [index] or ['name']",
    ],
    [
      "a wildcard path",
      oneState({ Type: "Pass", OutputPath: "$.items[*]", End: true }),
      "state Only, field OutputPath",
    ],
    ["a deep scan", oneState({ Type: "Pass", InputPath: "$..id", End: true }), "state Only, field InputPath"],
    [
      "a ResultPath into the context",
      oneState(task({ ResultPath: "$$.Execution.Name" })),
      "state Only, field ResultPath: expected a path that starts with a single $",
    ],
    [
      "an unknown context field",
      oneState(task({ Parameters: { FunctionName: "step", Payload: { "x.$": "$$.Map.Item.Index" } } })),
      "state Only, field Parameters.Payload.x.$: expected one of $$.Execution.Id",
    ],
    [
      "a task token without a callback",
      oneState(task({ Parameters: { FunctionName: "step", Payload: { "t.$": "$$.Task.Token" } } })),
      "expected $$.Task.Token only in the Parameters of a .waitForTaskToken Task",
    ],
    [
      "a callback that passes no token on",
      oneState(callbackTask({ Parameters: { FunctionName: "wait" } })),
      "without it nobody could answer",
    ],
    [
      "a heartbeat that nobody can send",
      oneState(task({ HeartbeatSeconds: 5 })),
      "state Only, field HeartbeatSeconds: expected only beside",
    ],
    [
      "a heartbeat slower than the timeout",
      oneState(callbackTask({ HeartbeatSeconds: 60, TimeoutSeconds: 60 })),
      "expected less than TimeoutSeconds 60, found 60",
    ],
    [
      "a fraction of a second",
      oneState(task({ TimeoutSeconds: 1.5 })),
      "state Only, field TimeoutSeconds: Invalid input: expected int, received number",
    ],
    [
      "the same field twice",
      oneState({ Type: "Pass", Parameters: { a: 1, "a.$": "$.a" }, End: true }),
      "state Only, field Parameters.a.$: expected one value, found both a and a.$",
    ],
    [
      "a path that is no text",
      oneState({ Type: "Pass", Parameters: { "a.$": 1 }, End: true }),
      "state Only, field Parameters.a.$: expected a path, found 1",
    ],
    [
      "a Wait until an instant",
      oneState({ Type: "Wait", Timestamp: "2026-09-02T12:00:00Z", End: true }),
      "state Only, field Timestamp: not supported here",
    ],
    ["a Wait without a duration", oneState({ Type: "Wait", End: true }), "expected either Seconds or SecondsPath"],
  ])("%s", (_title, definition, message) => {
    expect(problemsOf(definition).join("\n")).toContain(message);
  });
});

describe("Retry and Catch follow the documented rules", () => {
  const retry = (...entries: object[]): object => oneState(task({ Retry: entries }));
  test.each([
    [
      "States.ALL beside another name",
      retry({ ErrorEquals: ["States.ALL", "A"] }),
      "field Retry[0].ErrorEquals: expected States.ALL alone in its list",
    ],
    [
      "States.ALL before another entry",
      retry({ ErrorEquals: ["States.ALL"] }, { ErrorEquals: ["A"] }),
      "field Retry: expected States.ALL only in the last entry",
    ],
    ["no error at all", retry({ ErrorEquals: [] }), "field Retry[0].ErrorEquals"],
    [
      "a reserved name that never occurs",
      retry({ ErrorEquals: ["States.BranchFailed"] }),
      "field Retry[0].ErrorEquals[0]: expected a name of your own or one of States.ALL",
    ],
    ["a backoff that shrinks", retry({ ErrorEquals: ["A"], BackoffRate: 0.5 }), "field Retry[0].BackoffRate"],
    [
      "a cap below the interval",
      retry({ ErrorEquals: ["A"], IntervalSeconds: 5, MaxDelaySeconds: 5 }),
      "field Retry[0].MaxDelaySeconds: expected more than IntervalSeconds",
    ],
    ["an unknown jitter", retry({ ErrorEquals: ["A"], JitterStrategy: "SOME" }), "field Retry[0].JitterStrategy"],
    ["a misspelt field", retry({ ErrorEquals: ["A"], MaxAttempt: 2 }), "field Retry[0].MaxAttempt: not supported here"],
    ["a catcher without a target", oneState(task({ Catch: [{ ErrorEquals: ["A"] }] })), "field Catch[0].Next"],
  ])("%s is refused", (_title, definition, message) => {
    expect(problemsOf(definition).join("\n")).toContain(`state Only, ${message}`);
  });
});

describe("transitions must lead somewhere", () => {
  test.each([
    ["an unknown StartAt", { StartAt: "Nowhere", States: { A: succeed } }, "StartAt: expected one of A; found Nowhere"],
    [
      "an unknown Next",
      oneState(task({ Next: "Nowhere" })),
      "state Only, field Next: expected a state of the same branch, found Nowhere",
    ],
    [
      "an unknown catch target",
      oneState(task({ Catch: [{ ErrorEquals: ["A"], Next: "Nowhere" }] })),
      "state Only, field Catch[0].Next",
    ],
    ["neither Next nor End", oneState({ Type: "Pass" }), "state Only, field Next: expected either Next or End: true"],
    [
      "both Next and End",
      oneState({ Type: "Pass", Next: "Only", End: true }),
      "state Only, field Next: expected either Next or End: true",
    ],
    ["a state that nothing leads to", oneState(succeed, { Lost: succeed }), "state Lost: no transition leads here"],
    [
      "a name of 81 characters",
      { StartAt: "x".repeat(81), States: { ["x".repeat(81)]: succeed } },
      "expected a name of 1 to 80 characters, found 81",
    ],
    ["no JSON", "{", "expected JSON, found"],
    ["no object", "[]", "the definition: Invalid input: expected object, received array"],
  ])("%s is refused", (_title, definition, message) => {
    expect(problemsOf(definition).join("\n")).toContain(message);
  });
});

describe("a Choice must be decidable", () => {
  const choice = (...rules: object[]): object =>
    oneState({ Type: "Choice", Choices: rules, Default: "Yes" }, { Yes: succeed });
  test.each([
    [
      "an operator outside the subset",
      choice({ Variable: "$.a", NumericEquals: 1, Next: "Yes" }),
      "field Choices[0].NumericEquals: not supported here",
    ],
    [
      "two operators",
      choice({ Variable: "$.a", StringEquals: "x", IsPresent: true, Next: "Yes" }),
      "expected exactly one of StringEquals, IsPresent, And, Or, Not; found StringEquals, IsPresent",
    ],
    ["no operator", choice({ Variable: "$.a", Next: "Yes" }), "found none"],
    ["no variable", choice({ StringEquals: "x", Next: "Yes" }), "field Choices[0].Variable: expected Variable beside"],
    ["no Next", choice({ Variable: "$.a", StringEquals: "x" }), "field Choices[0].Next: expected Next"],
    [
      "a Next inside And",
      choice({ And: [{ Variable: "$.a", IsPresent: true, Next: "Yes" }], Next: "Yes" }),
      "field Choices[0]: expected Next only in the outermost rule",
    ],
    [
      "an End",
      oneState(
        { Type: "Choice", Choices: [{ Variable: "$.a", IsPresent: true, Next: "Yes" }], End: true },
        { Yes: succeed },
      ),
      "field End: not supported here",
    ],
  ])("%s is refused", (_title, definition, message) => {
    expect(problemsOf(definition).join("\n")).toContain(message);
  });
});

describe("Parallel branches are definitions of their own", () => {
  const branch = (state: object, name = "Inner"): object => ({ StartAt: name, States: { [name]: state } });
  const parallel = (...branches: object[]): object => oneState({ Type: "Parallel", Branches: branches, End: true });

  test("a problem inside a branch names the state of the branch", () => {
    expect(problemsOf(parallel(branch({ Type: "Map" }))).join()).toContain("state Inner, field Type");
  });
  test("a transition out of the branch is refused", () => {
    expect(problemsOf(parallel(branch(task({ Next: "Only" })))).join()).toContain(
      "state Inner, field Next: expected a state of the same branch, found Only",
    );
  });
  test("a name that two branches share is refused", () => {
    expect(problemsOf(parallel(branch(succeed), branch(succeed))).join()).toContain(
      "state Inner: expected a name that is unique across all branches",
    );
  });
  test("a branch that is no state machine is refused", () => {
    expect(problemsOf(parallel({ States: {} })).join()).toContain("state Only, field Branches[0], field StartAt");
  });
});

test("every problem of a definition is said at once", () => {
  expect(problemsOf({ StartAt: "A", States: { A: { Type: "Map" }, B: { Type: "Pass" } } })).toHaveLength(2);
});

test("retry settings that are left out take the documented defaults", () => {
  const definition = parseDefinition(oneState(task({ Retry: [{ ErrorEquals: ["A"] }] })));
  expect(definition.states.get("Only")).toMatchObject({
    Retry: [{ ErrorEquals: ["A"], IntervalSeconds: 1, MaxAttempts: 3, BackoffRate: 2, JitterStrategy: "NONE" }],
  });
});
