import { CreateStateMachineCommand, ListExecutionsCommand, SFNClient } from "@aws-sdk/client-sfn";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  startStepFunctionsEndpoint,
  type StepFunctionsEndpoint,
} from "../../../infra/local/step-functions/step-functions-endpoint.ts";
import { StepFunctionsService } from "../../../infra/local/step-functions/step-functions-service.ts";
import { sfnExecutions, sfnWaker } from "../../../shared/sfn/sfn-executions.ts";

/** One state that hands its token to a function and waits for the answer. */
const waits = {
  StartAt: "Wait",
  States: {
    Wait: {
      Type: "Task",
      Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
      Parameters: { FunctionName: "wait", Payload: { "token.$": "$$.Task.Token" } },
      TimeoutSeconds: 60,
      Catch: [{ ErrorEquals: ["surefoot.rejected"], Next: "Rejected" }],
      End: true,
    },
    Rejected: { Type: "Succeed" },
  },
};

let service: StepFunctionsService;
let endpoint: StepFunctionsEndpoint;
let sfn: SFNClient;
let tokens: string[];
let told: (token: string) => void;
/** The first token that a waiting state hands out. */
let token: Promise<string>;

beforeEach(async () => {
  tokens = [];
  token = new Promise((resolve) => (told = resolve));
  service = new StepFunctionsService({
    invokeLambda: async (_name, payload) => {
      const { token: handed } = payload as { token: string };
      tokens.push(handed);
      told(handed);
      return { ok: true, payload: {} };
    },
  });
  endpoint = await startStepFunctionsEndpoint(service);
  sfn = new SFNClient({
    endpoint: endpoint.url,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
});
afterEach(async () => {
  sfn.destroy();
  service.close();
  await endpoint.close();
});

const createMachine = async (): Promise<string> => {
  const roleArn = "arn:aws:iam::000000000000:role/test";
  const created = await sfn.send(
    new CreateStateMachineCommand({ name: "waits", definition: JSON.stringify(waits), roleArn }),
  );
  return created.stateMachineArn ?? "";
};
const executionsOf = async (stateMachineArn: string) =>
  (await sfn.send(new ListExecutionsCommand({ stateMachineArn }))).executions ?? [];

describe("starting", () => {
  test("the same name with the same input twice is one execution", async () => {
    const machine = await createMachine();
    const executions = sfnExecutions(sfn);
    const input = { run_id: "run-1", position: "0000.plan", next: "plan" };
    await executions.start(machine, "run-1-1", input);
    await executions.start(machine, "run-1-1", input);

    expect(await executionsOf(machine)).toMatchObject([{ name: "run-1-1" }]);
  });

  test("the same name after its end is no second execution either", async () => {
    const machine = await createMachine();
    await sfnExecutions(sfn).start(machine, "run-1-1", {});
    await sfnWaker(sfn).succeed(await token);
    const [execution] = await executionsOf(machine);
    await service.finished(execution?.executionArn ?? "");
    await sfnExecutions(sfn).start(machine, "run-1-1", {});

    expect(await executionsOf(machine)).toMatchObject([{ name: "run-1-1", status: "SUCCEEDED" }]);
    expect(tokens).toHaveLength(1);
  });

  test("a state machine that does not exist is an error, not a start", async () => {
    await expect(
      sfnExecutions(sfn).start("arn:aws:states:us-east-1:000000000000:stateMachine:none", "run-1-1", {}),
    ).rejects.toThrow(/are not there any more/);
  });
});

describe("waking", () => {
  test("a token is good once: the second wake-up finds nobody", async () => {
    await sfnExecutions(sfn).start(await createMachine(), "run-1-1", {});
    const waker = sfnWaker(sfn);

    expect(await waker.succeed(await token)).toBe("woken");
    expect(await waker.succeed(await token)).toBe("gone");
    expect(await waker.fail(await token, "surefoot.rejected")).toBe("gone");
  });

  test("a failure reaches the catch of its name", async () => {
    const machine = await createMachine();
    await sfnExecutions(sfn).start(machine, "run-1-1", {});

    expect(await sfnWaker(sfn).fail(await token, "surefoot.rejected")).toBe("woken");
    const [execution] = await executionsOf(machine);
    await service.finished(execution?.executionArn ?? "");
    expect(await executionsOf(machine)).toMatchObject([{ status: "SUCCEEDED" }]);
  });

  test.each(["never-handed-out", "x", "AAAAKgAAAAIAAAAA"])("the unknown token %s finds nobody", async (unknown) => {
    expect(await sfnWaker(sfn).succeed(unknown)).toBe("gone");
    expect(await sfnWaker(sfn).fail(unknown, "surefoot.expired")).toBe("gone");
  });

  test("the token of an execution that was stopped finds nobody", async () => {
    const machine = await createMachine();
    await sfnExecutions(sfn).start(machine, "run-1-1", {});
    const handed = await token;
    const [execution] = await executionsOf(machine);
    service.stopExecution({ executionArn: execution?.executionArn ?? "" });

    expect(await sfnWaker(sfn).succeed(handed)).toBe("gone");
  });

  test("an engine that cannot be reached is an error, since somebody may still wait", async () => {
    const offline = new SFNClient({
      endpoint: "http://127.0.0.1:1",
      region: "us-east-1",
      credentials: { accessKeyId: "local", secretAccessKey: "local" },
      maxAttempts: 1,
    });

    await expect(sfnWaker(offline).succeed("token")).rejects.toThrow();
    offline.destroy();
  });
});
