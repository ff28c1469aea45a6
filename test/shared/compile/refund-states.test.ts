import { describe, expect, it } from "vitest";
import { compileAgent } from "../../../shared/index.ts";
import { approvalFirstAgent, emptyWorld, refundAgent, routedAgent } from "../../builders/agents.ts";
import { brokenRules, problemsOf, tasksOf, validatorProblems } from "./state-machine-checks.ts";

const world = emptyWorld();
const compiled = compileAgent(refundAgent(world));
const { definition } = compiled;

describe("the refund agent's states", () => {
  const before = "plan+order+draft+review";
  const after = "refund+notify+verify+finalize";

  it("are two lines with a wait between them", () => {
    expect(compiled.lines).toEqual([
      { name: before, nodes: ["plan", "order", "draft", "review"] },
      { name: after, nodes: ["refund", "notify", "verify", "finalize"] },
    ]);
    expect(compiled).toMatchObject({ name: "refund-agent", version: 1, entry: "plan" });
    expect(definition.StartAt).toBe("Start");
  });

  it.each([
    [
      "Start",
      "Choice",
      {
        plan: before,
        order: before,
        draft: before,
        review: before,
        refund: after,
        notify: after,
        verify: after,
        finalize: after,
        "take_over!": "Take over run",
        end: "Done",
        else: "Route unknown",
      },
      {},
    ],
    [
      before,
      "Task",
      { always: `After ${before}` },
      { "surefoot.stale": "Stopped quietly", "States.ALL": "Settle failure" },
    ],
    [`After ${before}`, "Choice", { refund: after, "wait!": "Wait for review", else: "Start" }, {}],
    [
      "Wait for review",
      "Task",
      { always: after },
      {
        "surefoot.rejected": before,
        "surefoot.expired": before,
        "States.Timeout": "Expire review",
        "surefoot.stale": "Stopped quietly",
        "States.ALL": "Settle failure",
      },
    ],
    [
      "Expire review",
      "Task",
      { always: "After Expire review" },
      { "surefoot.stale": "Stopped quietly", "States.ALL": "Settle failure" },
    ],
    ["After Expire review", "Choice", { refund: after, plan: before, else: "Start" }, {}],
    [
      after,
      "Task",
      { end: true },
      {
        "surefoot.unknown.refund": `Resolve ${after}`,
        "surefoot.unknown.notify": `Resolve ${after}`,
        "surefoot.sent_back.refund": before,
        "surefoot.stale": "Stopped quietly",
        "States.ALL": "Settle failure",
      },
    ],
    [
      `Resolve ${after}`,
      "Task",
      { always: after },
      { "surefoot.stale": "Stopped quietly", "States.ALL": "Settle failure" },
    ],
    [
      "Take over run",
      "Task",
      { always: "Start" },
      { "surefoot.stale": "Stopped quietly", "States.ALL": "Settle failure" },
    ],
    ["Done", "Succeed", {}, {}],
    ["Settle failure", "Task", { always: "Failed" }, { "surefoot.stale": "Stopped quietly" }],
    ["Route unknown", "Pass", { always: "Settle failure" }, {}],
    ["Failed", "Fail", {}, {}],
    ["Stopped quietly", "Succeed", {}, {}],
  ])("%s is a %s that leads where it should", (name, type, next, catches) => {
    const state = definition.States[name];
    expect(state?.Type).toBe(type);
    expect(nextOf(name)).toEqual(next);
    expect(catchesOf(name)).toEqual(catches);
  });

  it("are these fourteen and no others", () => {
    expect(Object.keys(definition.States)).toHaveLength(14);
  });

  it("take five transitions from the start to the end with an approval between, four without", () => {
    expect(pathOf(["wait!", "approved", "end"])).toEqual([
      "Start",
      before,
      `After ${before}`,
      "Wait for review",
      after,
    ]);
    expect(pathOf(["refund", "end"])).toEqual(["Start", before, `After ${before}`, after]);
  });

  it("tell each function ids, and nothing else", () => {
    const ids = { "run_id.$": "$.run_id", "position.$": "$.position", "execution.$": "$$.Execution.Name" };
    const token = { "task_token.$": "$$.Task.Token" };
    expect(Object.fromEntries(tasksOf(definition).map(([name, task]) => [name, task.Parameters]))).toEqual({
      [before]: { FunctionName: "${StepFunctionArn}", Payload: { ...ids, line: before } },
      [after]: { FunctionName: "${StepFunctionArn}", Payload: { ...ids, line: after } },
      "Take over run": { FunctionName: "${StepFunctionArn}", Payload: { ...ids, line: "take_over!" } },
      "Wait for review": {
        FunctionName: "${WaitFunctionArn}",
        Payload: { ...ids, line: before, action: "ask", ...token },
      },
      "Expire review": { FunctionName: "${WaitFunctionArn}", Payload: { ...ids, line: before, action: "expire" } },
      [`Resolve ${after}`]: {
        FunctionName: "${WaitFunctionArn}",
        Payload: { ...ids, line: after, action: "ask", ...token },
      },
      "Settle failure": {
        FunctionName: "${SettleFunctionArn}",
        Payload: { "run_id.$": "$.run_id", "execution.$": "$$.Execution.Name", "error.$": "$.failure.Error" },
      },
    });
  });

  it("outlive what they back up by ten seconds: the function's kill, or the recorded expiry", () => {
    expect(Object.fromEntries(tasksOf(definition).map(([name, task]) => [name, task.TimeoutSeconds]))).toEqual({
      [before]: 130,
      [after]: 130,
      "Take over run": 130,
      "Wait for review": 604_810,
      "Expire review": 60,
      [`Resolve ${after}`]: 2_592_000,
      "Settle failure": 60,
    });
  });

  it("hand on ids only: a line's answer is cut to three of them, every other answer is dropped", () => {
    const kept = { "run_id.$": "$.Payload.run_id", "position.$": "$.Payload.position", "next.$": "$.Payload.next" };
    for (const [name, task] of tasksOf(definition)) {
      const answers = [before, after, "Expire review", "Take over run"].includes(name);
      expect({ name, kept: task.ResultSelector, at: task.ResultPath }).toEqual(
        answers ? { name, kept, at: undefined } : { name, kept: undefined, at: null },
      );
    }
  });

  function nextOf(name: string): Record<string, string | boolean> {
    const state = definition.States[name];
    if (state?.Type === "Choice") {
      const variables = new Set(state.Choices.map((choice) => choice.Variable));
      expect([...variables]).toEqual(["$.next"]);
      const choices = state.Choices.map((choice) => [choice.StringEquals, choice.Next]);
      return Object.fromEntries([...choices, ["else", state.Default]]) as Record<string, string>;
    }
    if (state?.Type === "Task" && state.End) return { end: true };
    return state && "Next" in state && state.Next !== undefined ? { always: state.Next } : {};
  }

  function catchesOf(name: string): Record<string, string> {
    const state = definition.States[name];
    const catchers = state?.Type === "Task" ? (state.Catch ?? []) : [];
    return Object.fromEntries(catchers.flatMap((catcher) => catcher.ErrorEquals.map((error) => [error, catcher.Next])));
  }

  /** The states a run passes when its lines and waits answer so. */
  function pathOf(answers: readonly string[]): readonly string[] {
    const path = ["Start", before];
    for (const answer of answers) {
      const { always, end } = nextOf(path.at(-1) ?? "");
      if (end === true) break;
      path.push(String(always));
      const choice = nextOf(String(always));
      if (definition.States[String(always)]?.Type === "Choice") path.push(String(choice[answer]));
    }
    return path;
  }
});

describe("an agent's states", () => {
  const samples = [refundAgent(world), routedAgent(world), approvalFirstAgent(world)];
  const definitions = samples.map((agent) => compileAgent(agent).definition);

  it("are accepted by both validators and by the local engine, and keep the rules", async () => {
    expect(validatorProblems(definitions)).toEqual([]);
    for (const states of definitions) {
      expect(await problemsOf(states)).toEqual([]);
      expect(brokenRules(states)).toEqual([]);
    }
  });

  it("are looked at by three judges, each of which sees a state that nothing leads to and a target that is not there", async () => {
    const { Done: _gone, ...rest } = compileAgent(routedAgent(world)).definition.States;
    const orphan = { ...definition, States: { ...definition.States, Orphan: { Type: "Succeed" as const } } };
    const dangling = {
      ...definition,
      States: { ...rest, Failed: { Type: "Pass", Result: {}, ResultPath: "$.x", Next: "Gone" } as const },
    };
    expect(validatorProblems([definition, orphan])).toEqual([expect.stringContaining("1 Orphan is not reachable")]);
    expect(validatorProblems([dangling]).join()).toContain("0 Gone");
    expect((await problemsOf(orphan)).map((problem) => problem.split(":")[0])).toEqual([
      "language service",
      "interpreter",
    ]);
    expect((await problemsOf(dangling)).map((problem) => problem.split(":")[0])).toContain("language service");
    expect((await problemsOf(dangling)).map((problem) => problem.split(":")[0])).toContain("interpreter");
  });

  it("are the same every time, and plain JSON", () => {
    expect(compileAgent(refundAgent(world))).toEqual(compiled);
    expect(JSON.parse(JSON.stringify(compiled))).toEqual(compiled);
  });
});
