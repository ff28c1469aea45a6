import { Duration } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, type IMetric, Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { type MetricName, metricMeanings } from "../shared/metrics/metrics.ts";
import { metricsNamespace, metricsService } from "../lambdas/adapters/powertools-metrics.ts";
import type { PlatformFunction } from "./platform-function.ts";
import { sweepEvery } from "./sweep-schedule.ts";

export interface AgentAlarmsProps {
  readonly agents: readonly string[];
  readonly deadLetters: Queue;
  readonly sweep: PlatformFunction;
}

/** What an on-call engineer is woken for, the most urgent first. Actions are the stack owner's: `alarm.addAlarmAction(…)`. */
export class AgentAlarms extends Construct {
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, { agents, deadLetters, sweep }: AgentAlarmsProps) {
    super(scope, id);
    const anyOf = (name: keyof typeof nextMoves) =>
      agents.map((agent) => {
        const description = `${agent}: ${metricMeanings[name]} ${nextMoves[name]}`;
        return this.#atLeastOne(`${agent}-${name}`, metricOf(name, agent), description);
      });
    this.alarms = [
      ...anyOf("side_effect_unknown_total"),
      ...anyOf("side_effect_duplicate_detected_total"),
      this.#atLeastOne(
        "DeadLetters",
        deadLetters.metricApproximateNumberOfMessagesVisible({ period, statistic: "Maximum" }),
        "A queued side effect could not be delivered. Its run is parked and says why: surefoot runs --status PARKED.",
      ),
      new Alarm(this, "SweepNotRunning", {
        alarmDescription:
          "No sweep for a while: what is in doubt stays so, and lost wake-ups stay lost. Look at the sweep function's log.",
        metric: sweep.function.metricInvocations({
          period: Duration.minutes(3 * sweepEvery.toMinutes()),
          statistic: "Sum",
        }),
        threshold: 1,
        evaluationPeriods: 1,
        comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
        treatMissingData: TreatMissingData.BREACHING,
      }),
      this.#atLeastOne(
        "SweepFailing",
        sweep.function.metricErrors({ period, statistic: "Sum" }),
        "A sweep failed. Look at the sweep function's log.",
      ),
      ...anyOf("waiter_overdue_total"),
      ...anyOf("approval_notice_failed_total"),
    ];
  }

  #atLeastOne(id: string, metric: IMetric, description: string): Alarm {
    return new Alarm(this, id, {
      alarmDescription: description,
      metric,
      threshold: 1,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }
}

const period = Duration.minutes(5);

/** What whoever is woken does first. */
const nextMoves = {
  side_effect_unknown_total: "surefoot operations --status UNKNOWN lists them, surefoot resolve settles one.",
  side_effect_duplicate_detected_total:
    'The step function\'s log names the operation at "a second, different success": compare both references on the other side.',
  waiter_overdue_total: "surefoot runs shows where its run went; nothing was sent on an approval that expired.",
  approval_notice_failed_total: "surefoot approvals lists what waits; the function's log names the channel.",
} as const satisfies Partial<Record<MetricName, string>>;

/** The total over an agent's nodes, as `powertools-metrics.ts` emits it beside the one per node. */
const metricOf = (name: MetricName, agent: string): Metric =>
  new Metric({
    namespace: metricsNamespace,
    metricName: name,
    dimensionsMap: { service: metricsService, agent },
    period,
    statistic: "Sum",
  });
