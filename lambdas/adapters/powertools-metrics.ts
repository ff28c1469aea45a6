import { Metrics as PowertoolsMetrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { MetricName, Metrics } from "../../shared/metrics/metrics.ts";

export const metricsNamespace = "Surefoot";

const unitOf = (name: MetricName): (typeof MetricUnit)[keyof typeof MetricUnit] => {
  if (name === "resume_latency") return MetricUnit.Milliseconds;
  return name.endsWith("_seconds") || name === "checkpoint_age" ? MetricUnit.Seconds : MetricUnit.Count;
};

/** One service for all functions: an alarm names it, and does not care which function counted. */
export const metricsService = "surefoot";

/**
 * Metrics as embedded-metric-format log lines: no request, nothing to lose when the process dies after the line. Each is counted under its
 * agent and node, and once more under its agent alone: an alarm cannot add up dimensions.
 */
export function powertoolsMetrics(): Metrics {
  const metrics = new PowertoolsMetrics({ namespace: metricsNamespace, serviceName: metricsService });
  const emit = (name: MetricName, dimensions: Readonly<Record<string, string>>, value: number) => {
    const single = metrics.singleMetric();
    for (const [dimension, of] of Object.entries(dimensions)) single.addDimension(dimension, of);
    single.addMetric(name, unitOf(name), value);
  };
  return {
    add(name, { agent, node }, value = 1) {
      const total = agent === undefined ? {} : { agent };
      emit(name, total, value);
      if (node !== undefined) emit(name, { ...total, node }, value);
    },
  };
}
