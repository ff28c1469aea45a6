import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  DescribeStateMachineCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  InvalidArn,
  InvalidDefinition,
  InvalidExecutionInput,
  InvalidName,
  InvalidToken,
  ListExecutionsCommand,
  ListStateMachinesCommand,
  SendTaskSuccessCommand,
  StartExecutionCommand,
  StateMachineAlreadyExists,
  StateMachineDoesNotExist,
  StateMachineTypeNotSupported,
  StopExecutionCommand,
  TaskTimedOut,
  UpdateStateMachineCommand,
} from "@aws-sdk/client-sfn";
import { describe, expect, test } from "vitest";
import { StepFunctionsService } from "../../../../infra/local/step-functions/step-functions-service.ts";
import { startEngine } from "./engine.ts";
import { settled } from "./manual-timers.ts";
import { post } from "./raw-request.ts";
import { callbackTask, oneState, task, tokenIn } from "./states.ts";

const succeed = oneState({ Type: "Succeed" });
const roleArn = "arn:aws:iam::000000000000:role/test";
const account = "arn:aws:states:us-east-1:000000000000";

describe("StartExecution", () => {
  test("answers the same twice while an execution of that name and input is open", async () => {
    const engine = await startEngine();
    const stateMachineArn = await engine.create(oneState(task()));
    const start = { stateMachineArn, name: "run.1", input: '{"a":1}' };
    const first = await engine.sfn.send(new StartExecutionCommand(start));
    await engine.timers.advance(1_000);
    const second = await engine.sfn.send(new StartExecutionCommand(start));
    expect(first.executionArn).toBe(`${account}:execution:machine-1:run.1`);
    expect(second).toMatchObject({ executionArn: first.executionArn, startDate: first.startDate });
    expect(engine.lambda.calls).toHaveLength(1);
  });
  test("refuses the name with another input", async () => {
    const engine = await startEngine();
    const stateMachineArn = await engine.create(oneState(task()));
    await engine.sfn.send(new StartExecutionCommand({ stateMachineArn, name: "run", input: '{"a":1}' }));
    const other = engine.sfn.send(new StartExecutionCommand({ stateMachineArn, name: "run", input: '{"a":2}' }));
    await expect(other).rejects.toBeInstanceOf(ExecutionAlreadyExists);
  });
  test("refuses the name of an execution that has ended, even with the same input", async () => {
    const engine = await startEngine();
    const stateMachineArn = await engine.create(succeed);
    const start = { stateMachineArn, name: "run", input: "{}" };
    const { executionArn } = await engine.sfn.send(new StartExecutionCommand(start));
    await engine.service.finished(executionArn ?? "");
    await expect(engine.sfn.send(new StartExecutionCommand(start))).rejects.toBeInstanceOf(ExecutionAlreadyExists);
  });
  test("lets another state machine use the same name", async () => {
    const engine = await startEngine();
    for (const name of ["one", "two"]) {
      const stateMachineArn = await engine.create(succeed, name);
      const started = await engine.sfn.send(new StartExecutionCommand({ stateMachineArn, name: "run" }));
      expect(started.executionArn).toBe(`${account}:execution:${name}:run`);
    }
  });
  test("refuses text that is no JSON, a bad name and an unknown state machine", async () => {
    const engine = await startEngine();
    const stateMachineArn = await engine.create(succeed);
    await expect(engine.sfn.send(new StartExecutionCommand({ stateMachineArn, input: "{" }))).rejects.toBeInstanceOf(
      InvalidExecutionInput,
    );
    await expect(engine.sfn.send(new StartExecutionCommand({ stateMachineArn, name: "a b" }))).rejects.toBeInstanceOf(
      InvalidName,
    );
    await expect(
      engine.sfn.send(new StartExecutionCommand({ stateMachineArn: `${account}:stateMachine:none` })),
    ).rejects.toBeInstanceOf(StateMachineDoesNotExist);
    await expect(engine.sfn.send(new StartExecutionCommand({ stateMachineArn: "none" }))).rejects.toBeInstanceOf(
      InvalidArn,
    );
  });
});

describe("an execution", () => {
  test("is described while it runs and after it has succeeded", async () => {
    const engine = await startEngine();
    const run = await engine.start(oneState({ Type: "Wait", Seconds: 2, End: true }), { a: 1 }, "run");
    const running = await engine.sfn.send(new DescribeExecutionCommand({ executionArn: run.arn }));
    expect(running).toMatchObject({
      name: "run",
      status: "RUNNING",
      input: '{"a":1}',
      startDate: new Date("2026-09-02T12:00:00.000Z"),
    });
    expect(running.stopDate).toBeUndefined();
    await engine.timers.advance(2_500);
    expect(await engine.sfn.send(new DescribeExecutionCommand({ executionArn: run.arn }))).toMatchObject({
      executionArn: run.arn,
      status: "SUCCEEDED",
      output: '{"a":1}',
      stopDate: new Date("2026-09-02T12:00:02.000Z"),
      redriveCount: 0,
    });
  });
  test("is described with its error and cause after it has failed", async () => {
    const engine = await startEngine();
    const run = await engine.start(oneState({ Type: "Fail", Error: "E", Cause: "C" }));
    await run.finished;
    expect(await engine.sfn.send(new DescribeExecutionCommand({ executionArn: run.arn }))).toMatchObject({
      status: "FAILED",
      error: "E",
      cause: "C",
    });
  });
  test("that is stopped is ABORTED, and the answer of its function is discarded", async () => {
    const engine = await startEngine();
    const run = await engine.start(oneState(task({ TimeoutSeconds: 60 })));
    const call = await engine.lambda.next();
    await engine.sfn.send(new StopExecutionCommand({ executionArn: run.arn, error: "Operator", cause: "enough" }));
    expect(await run.finished).toEqual({ status: "ABORTED", error: "Operator", cause: "enough" });
    call.succeed();
    await engine.timers.advance(60_000);
    expect(await run.eventTypes()).toEqual([
      "ExecutionStarted",
      "TaskStateEntered",
      "TaskScheduled",
      "TaskStarted",
      "ExecutionAborted",
    ]);
    expect((await run.history()).at(-1)?.executionAbortedEventDetails).toEqual({ error: "Operator", cause: "enough" });
  });
  test("that has ended is not changed by stopping it", async () => {
    const engine = await startEngine();
    const run = await engine.start(succeed);
    await run.finished;
    await engine.timers.advance(1_000);
    const stopped = await engine.sfn.send(new StopExecutionCommand({ executionArn: run.arn }));
    expect(stopped.stopDate).toEqual(new Date("2026-09-02T12:00:00.000Z"));
    expect(await engine.sfn.send(new DescribeExecutionCommand({ executionArn: run.arn }))).toMatchObject({
      status: "SUCCEEDED",
    });
  });
  test("that does not exist is ExecutionDoesNotExist", async () => {
    const engine = await startEngine();
    const describeIt = engine.sfn.send(new DescribeExecutionCommand({ executionArn: `${account}:execution:m:none` }));
    await expect(describeIt).rejects.toBeInstanceOf(ExecutionDoesNotExist);
  });
});

test("ListExecutions gives the newest first, by status, in pages", async () => {
  const engine = await startEngine();
  const stateMachineArn = await engine.create(oneState({ Type: "Wait", SecondsPath: "$.pause", End: true }));
  for (const [name, pause] of [
    ["a", 1],
    ["b", 9],
    ["c", 9],
  ] as const) {
    await engine.sfn.send(new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify({ pause }) }));
  }
  await engine.timers.advance(1_000);
  const names = async (fields: object): Promise<(string | undefined)[]> =>
    ((await engine.sfn.send(new ListExecutionsCommand({ stateMachineArn, ...fields }))).executions ?? []).map(
      ({ name }) => name,
    );
  expect(await names({})).toEqual(["c", "b", "a"]);
  expect(await names({ statusFilter: "RUNNING" })).toEqual(["c", "b"]);
  expect(await names({ statusFilter: "SUCCEEDED" })).toEqual(["a"]);
  const first = await engine.sfn.send(new ListExecutionsCommand({ stateMachineArn, maxResults: 2 }));
  expect(await names({ maxResults: 2, nextToken: first.nextToken })).toEqual(["a"]);
  await expect(names({ nextToken: "bogus" })).rejects.toBeInstanceOf(InvalidToken);
});

describe("a state machine", () => {
  test("is created, described and listed", async () => {
    const engine = await startEngine();
    const created = await engine.sfn.send(
      new CreateStateMachineCommand({ name: "refund-agent", definition: JSON.stringify(succeed), roleArn }),
    );
    expect(created).toMatchObject({
      stateMachineArn: `${account}:stateMachine:refund-agent`,
      creationDate: new Date("2026-09-02T12:00:00.000Z"),
    });
    const described = await engine.sfn.send(
      new DescribeStateMachineCommand({ stateMachineArn: created.stateMachineArn }),
    );
    expect(described).toMatchObject({
      name: "refund-agent",
      status: "ACTIVE",
      type: "STANDARD",
      roleArn,
      definition: JSON.stringify(succeed),
    });
    const listed = await engine.sfn.send(new ListStateMachinesCommand({}));
    expect(listed.stateMachines).toMatchObject([{ name: "refund-agent", stateMachineArn: created.stateMachineArn }]);
  });
  test("may be created again as it is, but not with another definition", async () => {
    const engine = await startEngine();
    const arn = await engine.create(succeed, "m");
    expect(await engine.create(succeed, "m")).toBe(arn);
    await expect(engine.create(oneState({ Type: "Pass", End: true }), "m")).rejects.toBeInstanceOf(
      StateMachineAlreadyExists,
    );
  });
  test("with a definition outside the subset is InvalidDefinition, and the message says where", async () => {
    const engine = await startEngine();
    const create = engine.create(oneState({ Type: "Map", End: true }));
    await expect(create).rejects.toBeInstanceOf(InvalidDefinition);
    await expect(create).rejects.toThrow("state Only, field Type");
  });
  test("of type EXPRESS is refused", async () => {
    const engine = await startEngine();
    const create = engine.sfn.send(
      new CreateStateMachineCommand({ name: "m", definition: JSON.stringify(succeed), roleArn, type: "EXPRESS" }),
    );
    await expect(create).rejects.toBeInstanceOf(StateMachineTypeNotSupported);
  });
});

test("the SDK raises TaskTimedOut for a token that is closed", async () => {
  const engine = await startEngine();
  await engine.start(oneState(callbackTask({ TimeoutSeconds: 1 })));
  const call = await engine.lambda.next();
  call.succeed();
  await engine.timers.advance(1_000);
  await settled();
  const send = engine.sfn.send(new SendTaskSuccessCommand({ taskToken: tokenIn(call.payload), output: "{}" }));
  await expect(send).rejects.toBeInstanceOf(TaskTimedOut);
});

describe("what the endpoint does not have", () => {
  test("an operation is refused by name", async () => {
    const engine = await startEngine();
    const update = engine.sfn.send(new UpdateStateMachineCommand({ stateMachineArn: `${account}:stateMachine:m` }));
    await expect(update).rejects.toMatchObject({
      name: "UnknownOperationException",
      message: expect.stringContaining(
        "'AWSStepFunctions.UpdateStateMachine', which the local Step Functions does not have",
      ),
    });
  });
  test("a member that would only work in the cloud is a ValidationException", async () => {
    const engine = await startEngine();
    const create = engine.sfn.send(
      new CreateStateMachineCommand({ name: "m", definition: JSON.stringify(succeed), roleArn, publish: true }),
    );
    await expect(create).rejects.toMatchObject({
      name: "ValidationException",
      message: expect.stringContaining("publish"),
    });
  });
  test("a body that is no JSON is a ValidationException", async () => {
    const engine = await startEngine();
    await expect(post(engine.url, { "x-amz-target": "AWSStepFunctions.ListStateMachines" }, "{")).rejects.toThrow(
      "expected a JSON body",
    );
  });
  test("a request under somebody else's host name is refused", async () => {
    const engine = await startEngine();
    const request = post(
      engine.url,
      { "x-amz-target": "AWSStepFunctions.ListStateMachines", host: "evil.example" },
      "{}",
    );
    await expect(request).rejects.toThrow("expected the Host 127.0.0.1 or localhost, found 'evil.example'");
  });
});

test("the default task tokens cannot be guessed from one another", async () => {
  const tokens: string[] = [];
  const service = new StepFunctionsService({
    invokeLambda: async (_name, payload) => {
      tokens.push(tokenIn(payload));
      return { ok: true, payload: {} };
    },
  });
  const { stateMachineArn } = service.createStateMachine({
    name: "m",
    definition: JSON.stringify(oneState(callbackTask())),
  });
  service.startExecution({ stateMachineArn });
  service.startExecution({ stateMachineArn });
  await settled();
  const [first = "", second = ""] = tokens.map((token) => token.slice(-43)); // 256 bits in base64url
  expect(first).toMatch(/^[\w-]{43}$/);
  expect(second).not.toBe(first);
  service.close();
});
