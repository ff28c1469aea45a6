import { Duration } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { Construct } from "constructs";
import type { PlatformFunction } from "./platform-function.ts";

/** How long something may lie before the sweep finds it. At this pace a sweep of nothing costs a few cents a month. */
export const sweepEvery = Duration.minutes(5);

export interface SweepScheduleProps {
  readonly sweep: PlatformFunction;
}

/** Runs the sweep, again and again. A sweep that fails is not repeated: the next one goes on from where it stopped. */
export class SweepSchedule extends Construct {
  readonly rule: Rule;

  constructor(scope: Construct, id: string, { sweep }: SweepScheduleProps) {
    super(scope, id);
    this.rule = new Rule(this, "Rule", {
      description: "Surefoot: finds out about what is in doubt, and wakes what was not told",
      schedule: Schedule.rate(sweepEvery),
      targets: [new LambdaFunction(sweep.function, { retryAttempts: 0 })],
    });
  }
}
