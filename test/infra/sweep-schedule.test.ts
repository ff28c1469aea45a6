import { beforeAll, describe, expect, it } from "vitest";
import { agentStack, ofType, type Resource, resourcesOf, synthesisMsMax } from "./synthesized-stack.ts";

let resources: ReadonlyMap<string, Resource>;
beforeAll(() => {
  resources = resourcesOf(agentStack());
}, synthesisMsMax);

const sweep = (): Resource => {
  const found = ofType(resources, "AWS::Lambda::Function").find(({ path }) => path === "Sweep/Function");
  if (!found) throw new Error("the stack has no Sweep/Function");
  return found;
};

describe("the sweep's schedule", () => {
  it("runs the sweep every five minutes, and does not repeat one that failed", () => {
    const [rule, ...more] = ofType(resources, "AWS::Events::Rule");
    expect(more).toEqual([]);
    expect(rule?.Properties).toMatchObject({ ScheduleExpression: "rate(5 minutes)", State: "ENABLED" });
    expect(rule?.Properties.Targets).toEqual([
      {
        Id: "Target0",
        Arn: { "Fn::GetAtt": [sweep().id, "Arn"] },
        RetryPolicy: { MaximumRetryAttempts: 0 },
      },
    ]);
  });

  it("is not repeated by Lambda either, where its event waits for the function", () => {
    const configs = ofType(resources, "AWS::Lambda::EventInvokeConfig").filter(
      ({ Properties }) => Properties.FunctionName.Ref === sweep().id,
    );
    expect(configs.map(({ Properties }) => Properties.MaximumRetryAttempts)).toEqual([0]);
  });

  it("leaves a sweep less time than there is until the next one", () => {
    const periodSeconds = 300;
    expect(sweep().Properties.Timeout).toBe(240);
    expect(sweep().Properties.Timeout).toBeLessThan(periodSeconds);
  });
});
