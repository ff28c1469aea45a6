import { describe, expect, it } from "vitest";
import { AgentDefinitionError, compileAgent, days, readTool, seconds } from "../../../shared/index.ts";
import { nodeTimeMs } from "../../../shared/compile/node-time.ts";
import { createRefundTool, emptyWorld, Plan, prompt, refundAgent, refundsByKey } from "../../builders/agents.ts";
import { asking, count, plan, refund, start } from "../agent/shop.ts";
import { tasksOf } from "./state-machine-checks.ts";

const world = emptyWorld();
const retriesOf = (agent: Parameters<typeof compileAgent>[0]) =>
  Object.fromEntries(
    tasksOf(compileAgent(agent).definition).map(([name, task]) => [
      name,
      (task.Retry ?? []).map((retrier) => [retrier.ErrorEquals.join(" "), retrier.MaxAttempts]),
    ]),
  );

const passing =
  "Lambda.ServiceException Lambda.AWSLambdaException Lambda.SdkClientException Lambda.ClientExecutionTimeoutException Lambda.Unknown Runtime.ExitError surefoot.crashed surefoot.passing";
const throttled = "Lambda.TooManyRequestsException";
/** Of functions that may be repeated whatever they were at. For a state that waits, `States.Timeout` is the end of its time. */
const ofEveryOther = [
  [passing, 5],
  [throttled, 35],
  ["Sandbox.Timedout", 1],
];
const ofEveryLine = [
  ["surefoot.later", 130],
  ["surefoot.hand_over", 1_000],
  [passing, 5],
  [throttled, 35],
  ["Sandbox.Timedout States.Timeout", 1],
];

describe("the one retry owner", () => {
  it("repeats models and reads up to their attempts, their timeouts once, and writes only where the ledger found it safe", () => {
    expect(retriesOf(refundAgent(world))).toEqual({
      "plan+order+draft+review": [
        ["surefoot.retryable.plan", 2],
        ["surefoot.timeout.plan", 1],
        ["surefoot.retryable.order", 2],
        ["surefoot.timeout.order", 1],
        ["surefoot.retryable.draft", 2],
        ["surefoot.timeout.draft", 1],
        ...ofEveryLine,
      ],
      "refund+notify+verify+finalize": [
        ["surefoot.retryable.refund", 2],
        ["surefoot.retryable.notify", 2],
        ["surefoot.retryable.verify", 2],
        ["surefoot.timeout.verify", 1],
        ["surefoot.retryable.finalize", 2],
        ["surefoot.timeout.finalize", 1],
        ...ofEveryLine,
      ],
      "Wait for review": ofEveryOther,
      "Expire review": ofEveryOther,
      "Resolve refund+notify+verify+finalize": ofEveryOther,
      "Take over run": ofEveryLine,
      "Settle failure": ofEveryOther,
    });
  });

  it("never repeats what may be asked once, a timeout included", () => {
    const once = start()
      .model("plan", { ...plan, attempts: 1 })
      .write("refund", { ...refund, tool: createRefundTool(world, refundsByKey(), { attempts: 1 }) })
      .end();
    expect(retriesOf(once)["plan+refund"]).toEqual(ofEveryLine);
  });

  it("repeats nothing of its own for nodes that only compute, choose or ask", () => {
    const agent = start()
      .compute("sum", count)
      .approval("review", { of: "refund", ...asking })
      .write("refund", refund)
      .end();
    expect(retriesOf(agent)["sum+review"]).toEqual(ofEveryLine);
  });

  it("waits longer each time, with jitter where many may wait for one service", () => {
    const line = tasksOf(compileAgent(refundAgent(world)).definition)[0]?.[1];
    expect(line?.Retry?.[0]).toEqual({
      ErrorEquals: ["surefoot.retryable.plan"],
      IntervalSeconds: 1,
      MaxAttempts: 2,
      BackoffRate: 2,
      MaxDelaySeconds: 30,
      JitterStrategy: "FULL",
    });
  });
});

describe("a node's time", () => {
  const slow = (timeout: number) =>
    readTool("slow", { version: 1, input: Plan, output: Plan, timeout, execute: async () => ({ steps: [] }) });
  const reading = (timeout: number) =>
    start()
      .read("look", { tool: slow(timeout), with: () => ({ steps: [] }) })
      .end();

  it("is its call's and two seconds to record the result; without a call, those two", () => {
    const agent = start()
      .model("plan", { ...plan, timeout: seconds(30) })
      .approval("review", { of: "refund", ...asking })
      .write("refund", refund)
      .compute("sum", count)
      .route("where", { to: ["end"], choose: () => "end" })
      .end();
    expect(agent.nodes.map((node) => [node.name, nodeTimeMs(node)])).toEqual([
      ["plan", 32_000],
      ["review", 2_000],
      ["refund", 12_000],
      ["sum", 2_000],
      ["where", 2_000],
    ]);
  });

  it("may fill the step function's to the millisecond", () => {
    const settings = { stepTimeoutSeconds: 20, resolutionWaitSeconds: 60 };
    expect(compileAgent(reading(seconds(18)), settings).lines).toHaveLength(1);
  });

  it("beyond the step function's is refused, with the node and both ways out", () => {
    const settings = { stepTimeoutSeconds: 20, resolutionWaitSeconds: 60 };
    const compile = () => compileAgent(reading(seconds(18) + 1), settings);
    expect(compile).toThrow(AgentDefinitionError);
    expect(compile).toThrow(
      expect.objectContaining({
        message:
          'agent "shop": node "look" may take 20001 ms, but the step function is killed after 20 s: shorten its timeout or raise stepTimeoutSeconds',
        facts: { agent: "shop", node: "look" },
      }),
    );
  });

  it("is checked for models and writes too, on whatever line they are", () => {
    const agent = start()
      .approval("review", { of: "refund", ...asking })
      .write("refund", refund)
      .model("plan", { prompt: prompt("plan"), output: Plan, timeout: days(1) })
      .end();
    expect(() => compileAgent(agent)).toThrow('node "plan" may take 86402000 ms');
    expect(() => compileAgent(agent, { stepTimeoutSeconds: 5, resolutionWaitSeconds: 60 })).toThrow('node "refund"');
  });
});

describe("a state that waits", () => {
  it("for an approval gives up ten seconds after it expired; for a person's word on a doubt, when the deployment says", () => {
    const agent = start()
      .approval("review", { of: "refund", ...asking, validFor: 1_500 })
      .write("refund", refund)
      .end();
    const { definition } = compileAgent(agent, { stepTimeoutSeconds: 60, resolutionWaitSeconds: 3_600 });
    expect(definition.States["Wait for review"]).toMatchObject({ TimeoutSeconds: 12 });
    expect(definition.States["Resolve refund"]).toMatchObject({ TimeoutSeconds: 3_600 });
    expect(definition.States["refund"]).toMatchObject({ TimeoutSeconds: 70 });
  });
});
