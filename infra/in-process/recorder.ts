import type { MetricDimensions, MetricName, Metrics } from "../../shared/metrics/metrics.ts";
import type { LogFields, Logger } from "../../shared/ports/logger.ts";
import type { Actor } from "./actor.ts";

export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly fields: LogFields;
}

/** What was counted and logged in one world, by processes that were alive. */
export class Recorder {
  readonly #added: { readonly name: MetricName; readonly dimensions: MetricDimensions; readonly value: number }[] = [];
  readonly #lines: LogLine[] = [];

  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  total(name: MetricName): number {
    return this.#added.filter((added) => added.name === name).reduce((sum, { value }) => sum + value, 0);
  }

  metrics(actor: Actor): Metrics {
    return {
      add: (name, dimensions, value = 1) => {
        if (!actor.process?.dead) this.#added.push({ name, dimensions, value });
      },
    };
  }

  logger(actor: Actor): Logger {
    const log = (level: LogLine["level"]) => (message: string, fields: LogFields) => {
      if (!actor.process?.dead) this.#lines.push({ level, message, fields });
    };
    return { info: log("info"), warn: log("warn"), error: log("error") };
  }
}
