import { LambdaClient } from "@aws-sdk/client-lambda";
import { CreateStateMachineCommand, SendTaskSuccessCommand, SFNClient } from "@aws-sdk/client-sfn";
import { describe, expect, it, onTestFinished } from "vitest";
import { startLambdaEndpoint } from "../../../infra/local/lambda/lambda-endpoint.ts";
import { functionFailed, type InvokeResult } from "../../../infra/local/lambda/lambda-failure.ts";
import { startStepFunctionsEndpoint } from "../../../infra/local/step-functions/step-functions-endpoint.ts";
import { StepFunctionsService } from "../../../infra/local/step-functions/step-functions-service.ts";
import { systemClock } from "../../../lambdas/adapters/system-clock.ts";
import { lambdaPinnedFunctions } from "../../../shared/aws-lambda/lambda-pinned-functions.ts";
import { executionArnOf, sfnExecutionStates } from "../../../shared/sfn/sfn-execution-states.ts";
import { sfnExecutions } from "../../../shared/sfn/sfn-executions.ts";

const aws = { region: "us-east-1", credentials: { accessKeyId: "local", secretAccessKey: "local" } };

describe("a pinned function", () => {
  async function functions(answer: InvokeResult) {
    const invoked: unknown[] = [];
    const lambda = await startLambdaEndpoint({
      invoke: async (name, payload) => {
        invoked.push({ name, payload });
        return answer;
      },
    });
    const client = new LambdaClient({ ...aws, endpoint: lambda.endpoint, maxAttempts: 1 });
    onTestFinished(async () => {
      client.destroy();
      await lambda.stop();
    });
    return { invoked, functions: lambdaPinnedFunctions(client, systemClock) };
  }

  it.each(["reconcile", "deliver"] as const)(
    "is asked to %s an operation by its version's own name",
    async (action) => {
      const { invoked, functions: pinned } = await functions({ ok: true, payload: { status: "SUCCEEDED" } });
      await pinned[action]("arn:aws:lambda:us-east-1:000000000000:function:step-order-agent:7", "op-1");
      expect(invoked).toEqual([
        {
          name: "arn:aws:lambda:us-east-1:000000000000:function:step-order-agent:7",
          payload: { action, operation_id: "op-1" },
        },
      ]);
    },
  );

  it.each(["reconcile", "deliver"] as const)("that fails to %s says with what, once", async (action) => {
    const failure = functionFailed({ errorType: "ComeBackLater", errorMessage: "a lease is live", trace: [] });
    const { invoked, functions: pinned } = await functions(failure);
    await expect(pinned[action]("step-order-agent", "op-1")).rejects.toMatchObject({
      code: "pinned_function_failed",
      failureClass: "unknown",
      message: expect.stringContaining("ended with ComeBackLater: a lease is live") as string,
      facts: { operation_id: "op-1", error_type: "ComeBackLater" },
    });
    expect(invoked).toHaveLength(1);
  });
});

describe("whether an execution runs", () => {
  it("is true while it waits, false once it has ended, and false for one that never was", async () => {
    let told: (token: string) => void = () => undefined;
    const token = new Promise<string>((resolve) => (told = resolve));
    const service = new StepFunctionsService({
      invokeLambda: async (_name, payload) => {
        told((payload as { token: string }).token);
        return { ok: true, payload: {} };
      },
    });
    const endpoint = await startStepFunctionsEndpoint(service);
    const sfn = new SFNClient({ ...aws, endpoint: endpoint.url });
    onTestFinished(async () => {
      sfn.destroy();
      service.close();
      await endpoint.close();
    });
    const wait = {
      Type: "Task",
      Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
      Parameters: { FunctionName: "wait", Payload: { "token.$": "$$.Task.Token" } },
      TimeoutSeconds: 60,
      End: true,
    };
    const { stateMachineArn: machine = "" } = await sfn.send(
      new CreateStateMachineCommand({
        name: "waits",
        definition: JSON.stringify({ StartAt: "Wait", States: { Wait: wait } }),
        roleArn: "arn:aws:iam::000000000000:role/test",
      }),
    );
    const states = sfnExecutionStates(sfn);
    expect(await states.isRunning(machine, "run-1-1")).toBe(false);
    await sfnExecutions(sfn).start(machine, "run-1-1", { run_id: "run-1" });
    const taskToken = await token;
    expect(await states.isRunning(machine, "run-1-1")).toBe(true);
    await sfn.send(new SendTaskSuccessCommand({ taskToken, output: "{}" }));
    await expect.poll(() => states.isRunning(machine, "run-1-1")).toBe(false);
  });

  it.each(["", ":7", ":live"])("is asked of the machine, also where the run is pinned to '%s'", (pinned) => {
    const machine = `arn:aws:states:eu-central-1:000000000000:stateMachine:order-agent${pinned}`;
    expect(executionArnOf(machine, "run-1-2")).toBe(
      "arn:aws:states:eu-central-1:000000000000:execution:order-agent:run-1-2",
    );
  });
});
