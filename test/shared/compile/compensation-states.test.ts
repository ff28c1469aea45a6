import { describe, expect, it } from "vitest";
import { compileAgent, minutes } from "../../../shared/index.ts";
import type { AslState } from "../../../shared/compile/asl.ts";
import { tripAgent } from "../../builders/trip-agent.ts";
import { brokenRules, problemsOf, tasksOf, validatorProblems } from "./state-machine-checks.ts";
import { wrongTurns } from "./walk-states.ts";

const agent = tripAgent({ review: true, cancelCar: "queue" });
const compiled = compileAgent(agent);
const { States } = compiled.definition;
const line = "hotel+car+mail+review";

const task = (name: string) => {
  const found = Object.fromEntries(tasksOf(compiled.definition))[name];
  if (!found) throw new Error(`expected a Task "${name}" among ${Object.keys(States).join(", ")}`);
  return found;
};
const catches = (name: string) =>
  Object.fromEntries(
    (task(name).Catch ?? []).flatMap(({ ErrorEquals, Next }) => ErrorEquals.map((error) => [error, Next])),
  );
const choices = (name: string) => {
  const state: AslState | undefined = States[name];
  if (state?.Type !== "Choice") throw new Error(`expected a Choice "${name}"`);
  return {
    ...Object.fromEntries(state.Choices.map(({ StringEquals, Next }) => [StringEquals, Next])),
    else: state.Default,
  };
};
const ids = { "run_id.$": "$.run_id", "position.$": "$.position", "execution.$": "$$.Execution.Name" };

describe("the states of an agent that says how to undo", () => {
  it("have one Task that undoes, under a line of its own, within the step function's time", () => {
    expect(task("Compensate operations")).toMatchObject({
      Comment: "Undoes what has happened, latest first: hotel.compensate, car.compensate, pay.compensate",
      Parameters: { FunctionName: "${StepFunctionArn}", Payload: { ...ids, line: "compensate!" } },
      TimeoutSeconds: 130,
      Next: "After Compensate operations",
    });
    expect(choices("After Compensate operations")).toEqual({
      end: "Done",
      "failed!": "Failed",
      else: "Route unknown",
    });
  });

  it("go there from a failure, from a line that is turned down, and from a start that says so", () => {
    expect(task("Settle failure")).toMatchObject({
      Parameters: { Payload: { action: "compensate" } },
      ResultSelector: { "next.$": "$.Payload.next" },
      ResultPath: "$.settled",
      Next: "After Settle failure",
    });
    expect(choices("After Settle failure")).toEqual({ "compensate!": "Compensate operations", else: "Failed" });
    expect(choices(`After ${line}`)).toMatchObject({ "compensate!": "Compensate operations", end: "Done" });
    expect(choices("Start")).toMatchObject({ "compensate!": "Compensate operations" });
  });

  it("wait there for whoever has an operation in hand or in doubt, and ask the ledger again", () => {
    expect(catches("Compensate operations")).toEqual({
      "surefoot.unknown.hotel": "Resolve compensation",
      "surefoot.unknown.hotel.compensate": "Resolve compensation",
      "surefoot.unknown.car": "Resolve compensation",
      "surefoot.unknown.car.compensate": "Resolve compensation",
      "surefoot.handed_out.car.compensate": "Resolve compensation",
      "surefoot.unknown.pay": "Resolve compensation",
      "surefoot.unknown.pay.compensate": "Resolve compensation",
      "surefoot.stale": "Stopped quietly",
      "States.ALL": "Settle compensation",
    });
    expect(task("Resolve compensation")).toMatchObject({
      Parameters: { Payload: { line: "compensate!", action: "ask" } },
      Next: "Compensate operations",
    });
  });

  it("retry each compensation within its own tool's budget, and nothing that has none", () => {
    const retried = (task("Compensate operations").Retry ?? []).flatMap(({ ErrorEquals, MaxAttempts }) =>
      ErrorEquals.map((error) => [error, MaxAttempts] as const),
    );
    expect(Object.fromEntries(retried)).toMatchObject({
      "surefoot.retryable.hotel.compensate": 2,
      "surefoot.retryable.car.compensate": 2,
      "surefoot.retryable.pay.compensate": 2,
      "surefoot.later": 130,
    });
  });

  it("park what stops a compensation, and never begin another one from there", () => {
    const settle = task("Settle compensation");
    expect(settle).toMatchObject({ ResultPath: null, Next: "Failed" });
    expect(settle.Parameters.Payload).not.toHaveProperty("action");
    expect(catches("Settle compensation")).toEqual({ "surefoot.stale": "Stopped quietly" });
  });

  it("are accepted by every judge, keep the rules and have no wrong turn", async () => {
    expect(await problemsOf(compiled.definition)).toEqual([]);
    expect(validatorProblems([compiled.definition])).toEqual([]);
    expect(brokenRules(compiled.definition)).toEqual([]);
    expect(wrongTurns(agent, compiled)).toEqual([]);
  });

  it("take a compensation that needs more time than the step function has for a mistake", () => {
    const slow = agent.nodes.map((node) => {
      if (node.kind !== "write" || !node.compensate) return node;
      const { tool } = node.compensate;
      return { ...node, compensate: { ...node.compensate, tool: { ...tool, timeoutMs: minutes(3) } } };
    });
    expect(() => compileAgent({ ...agent, nodes: slow })).toThrow(/node "hotel.compensate" may take 182000 ms/u);
  });
});

describe("the states of an agent that does not", () => {
  it("know nothing of compensation", () => {
    const { definition } = compileAgent(tripAgent({ review: true, compensates: false }));
    const text = JSON.stringify(definition).toLowerCase();
    expect(text).not.toContain("compensat");
    expect(definition.States["Settle failure"]).toMatchObject({ ResultPath: null, Next: "Failed" });
  });
});
