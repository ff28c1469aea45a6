import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { AgentStack } from "../../infra/index.ts";
import { powertoolsMetrics } from "../../lambdas/adapters/powertools-metrics.ts";
import type { MetricName } from "../../shared/metrics/metrics.ts";
import { agentStack, asText, ofType, refund, type Resource, resourcesOf, synthesisMsMax } from "./synthesized-stack.ts";

let stack: AgentStack;
let resources: ReadonlyMap<string, Resource>;
beforeAll(() => {
  stack = agentStack();
  resources = resourcesOf(stack);
}, synthesisMsMax);
afterEach(() => vi.restoreAllMocks());

interface AlarmProperties {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions: readonly { readonly Name: string; readonly Value: unknown }[];
  readonly AlarmDescription: string;
}
const alarm = (id: string): AlarmProperties => {
  const found = ofType(resources, "AWS::CloudWatch::Alarm").find(({ path }) => path === `Alarms/${id}`);
  if (!found) throw new Error(`there is no alarm ${id}`);
  return found.Properties;
};
const dimensionsOf = ({ Dimensions }: AlarmProperties) =>
  Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, asText(Value, resources)]));

const once = {
  Threshold: 1,
  ComparisonOperator: "GreaterThanOrEqualToThreshold",
  Statistic: "Sum",
  Period: 300,
  EvaluationPeriods: 1,
  TreatMissingData: "notBreaching",
};

describe("the alarms", () => {
  it("come in the order of their urgency, an effect in doubt first", () => {
    expect(stack.alarms.alarms.map(({ node }) => node.id)).toEqual([
      "refund-agent-side_effect_unknown_total",
      "refund-agent-side_effect_duplicate_detected_total",
      "DeadLetters",
      "SweepNotRunning",
      "SweepFailing",
      "refund-agent-waiter_overdue_total",
      "refund-agent-approval_notice_failed_total",
    ]);
  });

  it("watch each agent, every agent's doubt before anything else", () => {
    const other = { ...refund, agent: { ...refund.agent, name: "other-agent" } };
    const ids = agentStack({ agents: [refund, other] }).alarms.alarms.map(({ node }) => node.id);
    expect(ids.slice(0, 4)).toEqual([
      "refund-agent-side_effect_unknown_total",
      "other-agent-side_effect_unknown_total",
      "refund-agent-side_effect_duplicate_detected_total",
      "other-agent-side_effect_duplicate_detected_total",
    ]);
    expect(ids).toHaveLength(11);
  });

  it.each(["side_effect_unknown_total", "side_effect_duplicate_detected_total", "waiter_overdue_total"])(
    "go off at the first %s of an agent, and silence is good news",
    (name) => {
      const properties = alarm(`refund-agent-${name}`);
      expect(properties).toMatchObject({ ...once, Namespace: "Surefoot", MetricName: name });
      expect(dimensionsOf(properties)).toEqual({ service: "surefoot", agent: "refund-agent" });
    },
  );

  it("go off at the first message in the dead letter queue", () => {
    const properties = alarm("DeadLetters");
    expect(properties).toMatchObject({
      ...once,
      Namespace: "AWS/SQS",
      MetricName: "ApproximateNumberOfMessagesVisible",
      Statistic: "Maximum",
    });
    const [dimension, ...more] = properties.Dimensions;
    expect(more).toEqual([]);
    expect(dimension?.Name).toBe("QueueName");
    expect(asText(dimension?.Value, resources)).toBe("Deliveries/DeadLetters");
  });

  it("go off when no sweep ran for three periods, where silence is the bad news", () => {
    const properties = alarm("SweepNotRunning");
    expect(properties).toMatchObject({
      Namespace: "AWS/Lambda",
      MetricName: "Invocations",
      Statistic: "Sum",
      Period: 900,
      EvaluationPeriods: 1,
      Threshold: 1,
      ComparisonOperator: "LessThanThreshold",
      TreatMissingData: "breaching",
    });
    expect(dimensionsOf(properties)).toEqual({ FunctionName: "Sweep/Function" });
  });

  it("go off when a sweep fails", () => {
    const properties = alarm("SweepFailing");
    expect(properties).toMatchObject({ ...once, Namespace: "AWS/Lambda", MetricName: "Errors" });
    expect(dimensionsOf(properties)).toEqual({ FunctionName: "Sweep/Function" });
  });

  it("say whose it is, what it means and what to do first, for whoever it wakes", () => {
    expect(alarm("refund-agent-side_effect_unknown_total").AlarmDescription).toBe(
      "refund-agent: An effect may or may not have happened and nobody knows. The alarm that matters most. " +
        "surefoot operations --status UNKNOWN lists them, surefoot resolve settles one.",
    );
    const toDo: Readonly<Record<string, RegExp>> = {
      "refund-agent-side_effect_duplicate_detected_total": /^refund-agent: .*compare both references/u,
      "refund-agent-waiter_overdue_total": /^refund-agent: .*surefoot runs/u,
      DeadLetters: /surefoot runs --status PARKED/u,
      SweepNotRunning: /Look at the sweep function's log/u,
      SweepFailing: /Look at the sweep function's log/u,
    };
    for (const [id, words] of Object.entries(toDo)) expect(alarm(id).AlarmDescription).toMatch(words);
  });
});

interface EmbeddedMetric {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, unknown>>;
  readonly value: unknown;
}

/** One entry of the embedded metric format: each set of dimension names is a series of its own. */
interface MetricDirective {
  readonly Namespace: string;
  readonly Dimensions: readonly (readonly string[])[];
  readonly Metrics: readonly { readonly Name: string }[];
}

/** What CloudWatch makes of the lines that a function writes while `run` counts. */
function emittedBy(run: (metrics: ReturnType<typeof powertoolsMetrics>) => void): readonly EmbeddedMetric[] {
  const lines: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((chunk) => lines.push(String(chunk)) > 0);
  run(powertoolsMetrics());
  vi.restoreAllMocks();
  return lines.flatMap((line) => {
    const record = JSON.parse(line);
    return (record._aws.CloudWatchMetrics as readonly MetricDirective[]).flatMap(({ Namespace, Dimensions, Metrics }) =>
      Dimensions.flatMap((names) =>
        Metrics.map(({ Name }) => ({
          namespace: Namespace,
          name: Name,
          dimensions: Object.fromEntries(names.map((name) => [name, record[name]])),
          value: [record[Name]].flat()[0],
        })),
      ),
    );
  });
}

describe("what an alarm watches is what a function emits", () => {
  const watched: readonly MetricName[] = [
    "side_effect_unknown_total",
    "side_effect_duplicate_detected_total",
    "waiter_overdue_total",
  ];

  it.each(watched)("%s, to the last dimension, counted at a node", (name) => {
    const emitted = emittedBy((metrics) => metrics.add(name, { agent: "refund-agent", node: "refund" }));
    const watches = alarm(`refund-agent-${name}`);
    const sorted = (dimensions: object) => JSON.stringify(Object.entries(dimensions).sort());
    const seen = emitted.filter((metric) => {
      const sameMetric = metric.namespace === watches.Namespace && metric.name === watches.MetricName;
      // CloudWatch keeps a series for each set of dimensions: one more, or one less, is another one, and stays silent.
      return sameMetric && sorted(metric.dimensions) === sorted(dimensionsOf(watches));
    });
    expect(seen).toEqual([
      {
        namespace: "Surefoot",
        name,
        dimensions: { service: "surefoot", agent: "refund-agent" },
        value: 1,
      },
    ]);
  });

  it("once for the agent and once for its node, so that neither counts the other's", () => {
    const emitted = emittedBy((metrics) => metrics.add("side_effect_unknown_total", { agent: "a", node: "refund" }, 2));
    expect(emitted.map(({ dimensions, value }) => ({ dimensions, value }))).toEqual([
      { dimensions: { service: "surefoot", agent: "a" }, value: 2 },
      { dimensions: { service: "surefoot", agent: "a", node: "refund" }, value: 2 },
    ]);
  });
});
