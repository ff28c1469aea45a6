import { describe, expect, test } from "vitest";
import { stateMachineArn } from "../../../../infra/local/step-functions/arn.ts";
import { StepFunctionsService } from "../../../../infra/local/step-functions/step-functions-service.ts";

const machine = (result: string) =>
  JSON.stringify({ StartAt: "Say", States: { Say: { Type: "Pass", Result: { result }, End: true } } });

describe("versions of a state machine", () => {
  const service = new StepFunctionsService({ invokeLambda: () => Promise.reject(new Error("nothing is invoked")) });
  const [one, two] = ["one", "two"].map((result, index) =>
    service.publishVersion({ name: "m", version: index + 1, definition: machine(result) }),
  ) as [string, string];
  const outputOf = async (arn: string, name: string) => {
    const { executionArn } = service.startExecution({ stateMachineArn: arn, name });
    await service.finished(executionArn);
    return JSON.parse(service.describeExecution({ executionArn }).output ?? "") as unknown;
  };

  test("each run what they were, whatever was published since; the machine itself is as the last one is", async () => {
    expect([one, two]).toEqual([`${stateMachineArn("m")}:1`, `${stateMachineArn("m")}:2`]);
    expect(await outputOf(one, "a")).toEqual({ result: "one" });
    expect(await outputOf(two, "b")).toEqual({ result: "two" });
    expect(await outputOf(stateMachineArn("m"), "c")).toEqual({ result: "two" });
  });

  test("are one machine in a list, whose executions are those of all of them", async () => {
    const names = (arn: string) =>
      (service.listExecutions({ stateMachineArn: arn }).executions ?? []).map(({ name }) => name);
    expect((service.listStateMachines({}).stateMachines ?? []).map(({ name }) => name)).toEqual(["m"]);
    expect(names(stateMachineArn("m"))).toEqual(["c", "b", "a"]);
    expect(names(one)).toEqual(["a"]);
  });

  test("that were never published are no place to start", () => {
    expect(() => service.startExecution({ stateMachineArn: `${stateMachineArn("m")}:3` })).toThrow(/Does Not Exist/);
  });
});
