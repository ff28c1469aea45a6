import type { MetricDimensions, MetricName, Metrics } from "../../shared/metrics/metrics.ts";

/** Remembers what was counted. */
export class RecordingMetrics implements Metrics {
  readonly added: { readonly name: MetricName; readonly dimensions: MetricDimensions; readonly value: number }[] = [];

  add(name: MetricName, dimensions: MetricDimensions, value = 1): void {
    this.added.push({ name, dimensions, value });
  }

  total(name: MetricName): number {
    return this.added.filter((metric) => metric.name === name).reduce((sum, { value }) => sum + value, 0);
  }
}
