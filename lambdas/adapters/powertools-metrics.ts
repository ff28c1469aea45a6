import { Metrics as PowertoolsMetrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { MetricName, Metrics } from "../../shared/metrics/metrics.ts";

export const metricsNamespace = "Surefoot";

const unitOf = (name: MetricName): (typeof MetricUnit)[keyof typeof MetricUnit] => {
  if (name === "resume_latency") return MetricUnit.Milliseconds;
  return name.endsWith("_seconds") || name === "checkpoint_age" ? MetricUnit.Seconds : MetricUnit.Count;
};

/** Metrics as embedded-metric-format log lines: no request, nothing to lose when the process dies after the line. */
export function powertoolsMetrics(service: string): Metrics {
  const metrics = new PowertoolsMetrics({ namespace: metricsNamespace, serviceName: service });
  return {
    add(name, dimensions, value = 1) {
      const single = metrics.singleMetric();
      if (dimensions.agent !== undefined) single.addDimension("agent", dimensions.agent);
      if (dimensions.node !== undefined) single.addDimension("node", dimensions.node);
      single.addMetric(name, unitOf(name), value);
    },
  };
}
