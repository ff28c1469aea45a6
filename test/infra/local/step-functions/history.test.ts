import { GetExecutionHistoryCommand, SendTaskHeartbeatCommand, SendTaskSuccessCommand } from "@aws-sdk/client-sfn";
import { describe, expect, test } from "vitest";
import { HISTORY_EVENTS_MAX } from "../../../../infra/local/step-functions/history.ts";
import { startEngine, type StartedExecution } from "./engine.ts";
import { settled } from "./manual-timers.ts";
import { callbackTask, oneState, task, tokenIn } from "./states.ts";

/** `id<-previous type`, which shows a history's shape at a glance. */
async function shape(run: StartedExecution): Promise<string[]> {
  return (await run.history()).map((event) => `${event.id}<-${event.previousEventId} ${event.type}`);
}

const invoke = { resource: "invoke", resourceType: "lambda" };
const notTruncated = { truncated: false };

describe("the history of an execution", () => {
  test("tells a Choice and a Task from start to end, each event with the one before it", async () => {
    const engine = await startEngine();
    const run = await engine.start(
      {
        StartAt: "Start",
        States: {
          Start: { Type: "Choice", Choices: [{ Variable: "$.a", IsPresent: true, Next: "Work" }] },
          Work: task({ TimeoutSeconds: 60, ResultPath: null, Next: "Done" }),
          Done: { Type: "Succeed" },
        },
      },
      { a: 1 },
    );
    (await engine.lambda.next()).succeed({ ok: true });
    await run.finished;
    expect(await shape(run)).toEqual([
      "1<-0 ExecutionStarted",
      "2<-0 ChoiceStateEntered",
      "3<-2 ChoiceStateExited",
      "4<-3 TaskStateEntered",
      "5<-4 TaskScheduled",
      "6<-5 TaskStarted",
      "7<-6 TaskSucceeded",
      "8<-7 TaskStateExited",
      "9<-8 SucceedStateEntered",
      "10<-9 SucceedStateExited",
      "11<-10 ExecutionSucceeded",
    ]);
    const events = await run.history();
    expect(events[0]).toEqual({
      id: 1,
      previousEventId: 0,
      type: "ExecutionStarted",
      timestamp: new Date("2026-09-02T12:00:00.000Z"),
      executionStartedEventDetails: {
        input: '{"a":1}',
        inputDetails: notTruncated,
        roleArn: "arn:aws:iam::000000000000:role/local-step-functions",
      },
    });
    expect(events[3]?.stateEnteredEventDetails).toEqual({ name: "Work", input: '{"a":1}', inputDetails: notTruncated });
    expect(events[4]?.taskScheduledEventDetails).toEqual({
      ...invoke,
      region: "us-east-1",
      parameters: '{"FunctionName":"step","Payload":{"input":{"a":1}}}',
      timeoutInSeconds: 60,
    });
    expect(events[5]?.taskStartedEventDetails).toEqual(invoke);
    expect(events[6]?.taskSucceededEventDetails).toMatchObject({
      ...invoke,
      output: expect.stringContaining('"Payload":{"ok":true}'),
      outputDetails: notTruncated,
    });
    expect(events[7]?.stateExitedEventDetails).toEqual({
      name: "Work",
      output: '{"a":1}',
      outputDetails: notTruncated,
    });
    expect(events[10]?.executionSucceededEventDetails).toEqual({ output: '{"a":1}', outputDetails: notTruncated });
  });

  test("tells a failure, its retry, its catch and the final failure", async () => {
    const engine = await startEngine();
    const run = await engine.start({
      StartAt: "Work",
      States: {
        Work: task({
          Retry: [{ ErrorEquals: ["A"], MaxAttempts: 1 }],
          Catch: [{ ErrorEquals: ["A"], Next: "Failed" }],
        }),
        Failed: { Type: "Fail", Error: "Gone", Cause: "for good" },
      },
    });
    (await engine.lambda.next()).fail("A");
    await engine.timers.advance(1_000);
    (await engine.lambda.next()).fail("A");
    await run.finished;
    expect(await shape(run)).toEqual([
      "1<-0 ExecutionStarted",
      "2<-0 TaskStateEntered",
      "3<-2 TaskScheduled",
      "4<-3 TaskStarted",
      "5<-4 TaskFailed",
      "6<-5 TaskScheduled",
      "7<-6 TaskStarted",
      "8<-7 TaskFailed",
      "9<-8 TaskStateExited",
      "10<-9 FailStateEntered",
      "11<-10 ExecutionFailed",
    ]);
    const events = await run.history();
    expect(events[4]?.taskFailedEventDetails).toEqual({
      ...invoke,
      error: "A",
      cause: '{"errorType":"A","errorMessage":"it went wrong","trace":[]}',
    });
    expect(events[5]?.timestamp).toEqual(new Date("2026-09-02T12:00:01.000Z"));
    expect(events[10]?.executionFailedEventDetails).toEqual({ error: "Gone", cause: "for good" });
  });

  test("tells a callback: submitted, then answered", async () => {
    const engine = await startEngine();
    const run = await engine.start(oneState(callbackTask({ TimeoutSeconds: 600, HeartbeatSeconds: 60 })));
    const call = await engine.lambda.next();
    call.succeed("seen");
    await settled();
    const taskToken = tokenIn(call.payload);
    await engine.sfn.send(new SendTaskHeartbeatCommand({ taskToken }));
    await engine.sfn.send(new SendTaskSuccessCommand({ taskToken, output: '"yes"' }));
    await run.finished;
    expect(await shape(run)).toEqual([
      "1<-0 ExecutionStarted",
      "2<-0 TaskStateEntered",
      "3<-2 TaskScheduled",
      "4<-3 TaskStarted",
      "5<-4 TaskSubmitted",
      "6<-5 TaskSucceeded",
      "7<-6 TaskStateExited",
      "8<-7 ExecutionSucceeded",
    ]);
    const events = await run.history();
    const service = { resource: "invoke.waitForTaskToken", resourceType: "lambda" };
    expect(events[2]?.taskScheduledEventDetails).toMatchObject({
      ...service,
      timeoutInSeconds: 600,
      heartbeatInSeconds: 60,
    });
    expect(events[4]?.taskSubmittedEventDetails).toMatchObject({
      ...service,
      output: expect.stringContaining('"Payload":"seen"'),
    });
    expect(events[5]?.taskSucceededEventDetails).toEqual({ ...service, output: '"yes"', outputDetails: notTruncated });
  });

  test("tells a timeout of a Task", async () => {
    const engine = await startEngine();
    const run = await engine.start(oneState(task({ TimeoutSeconds: 1 })));
    await engine.timers.advance(1_000);
    expect((await shape(run)).slice(3)).toEqual(["4<-3 TaskStarted", "5<-4 TaskTimedOut", "6<-5 ExecutionFailed"]);
    expect((await run.history())[4]?.taskTimedOutEventDetails).toEqual({ ...invoke, error: "States.Timeout" });
  });

  test("tells a Parallel's branches from their common start, and the success from the last of them", async () => {
    const engine = await startEngine();
    const pass = (name: string): object => ({ StartAt: name, States: { [name]: { Type: "Pass", End: true } } });
    const run = await engine.start(oneState({ Type: "Parallel", Branches: [pass("A"), pass("B")], End: true }));
    await run.finished;
    expect(await shape(run)).toEqual([
      "1<-0 ExecutionStarted",
      "2<-0 ParallelStateEntered",
      "3<-2 ParallelStateStarted",
      "4<-3 PassStateEntered",
      "5<-3 PassStateEntered",
      "6<-4 PassStateExited",
      "7<-5 PassStateExited",
      "8<-7 ParallelStateSucceeded",
      "9<-7 ParallelStateExited",
      "10<-9 ExecutionSucceeded",
    ]);
  });

  test("tells a Parallel that fails", async () => {
    const engine = await startEngine();
    const fails = { StartAt: "F", States: { F: { Type: "Fail", Error: "E" } } };
    const run = await engine.start(oneState({ Type: "Parallel", Branches: [fails], End: true }));
    await run.finished;
    expect((await shape(run)).slice(3)).toEqual([
      "4<-3 FailStateEntered",
      "5<-4 ParallelStateFailed",
      "6<-5 ExecutionFailed",
    ]);
  });

  test("tells the whole execution's own timeout", async () => {
    const engine = await startEngine();
    const run = await engine.start({ TimeoutSeconds: 5, ...oneState({ Type: "Wait", Seconds: 10, End: true }) });
    await engine.timers.advance(5_000);
    expect(await run.finished).toEqual({ status: "TIMED_OUT" });
    expect(await shape(run)).toEqual(["1<-0 ExecutionStarted", "2<-0 WaitStateEntered", "3<-2 ExecutionTimedOut"]);
    expect(engine.timers.waiting).toBe(0);
  });

  test("comes in pages that join to the whole, in both directions", async () => {
    const engine = await startEngine();
    const run = await engine.start(oneState({ Type: "Pass", End: true }));
    await run.finished;
    for (const reverseOrder of [false, true]) {
      const ids: (number | undefined)[] = [];
      let nextToken: string | undefined;
      do {
        const page = await engine.sfn.send(
          new GetExecutionHistoryCommand({ executionArn: run.arn, maxResults: 3, reverseOrder, nextToken }),
        );
        ids.push(...(page.events ?? []).map((event) => event.id));
        nextToken = page.nextToken;
      } while (nextToken !== undefined);
      expect(ids).toEqual(reverseOrder ? [4, 3, 2, 1] : [1, 2, 3, 4]);
    }
  });

  test("leaves the data out when asked to", async () => {
    const engine = await startEngine();
    const run = await engine.start(oneState({ Type: "Pass", End: true }), { secret: 1 });
    await run.finished;
    const page = await engine.sfn.send(
      new GetExecutionHistoryCommand({ executionArn: run.arn, includeExecutionData: false }),
    );
    expect(JSON.stringify(page.events)).not.toContain("secret");
    expect(page.events?.[1]?.stateEnteredEventDetails).toEqual({ name: "Only" });
  });

  test("ends an execution that would exceed 25,000 events", async () => {
    const engine = await startEngine();
    const definition = {
      StartAt: "A",
      States: {
        A: { Type: "Choice", Choices: [{ Variable: "$.on", IsPresent: true, Next: "B" }] },
        B: { Type: "Pass", Next: "A" },
      },
    };
    const run = await engine.start(definition, { on: true });
    expect(await run.finished).toMatchObject({
      status: "FAILED",
      error: "States.Runtime",
      cause: expect.stringContaining("maximum number of history events (25000)"),
    });
    const last = await engine.sfn.send(
      new GetExecutionHistoryCommand({ executionArn: run.arn, reverseOrder: true, maxResults: 1 }),
    );
    expect(last.events?.[0]).toMatchObject({ id: HISTORY_EVENTS_MAX, type: "ExecutionFailed" });
  });
});
