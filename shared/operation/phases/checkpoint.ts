import type { RunLog } from "../../runlog/run-log.ts";
import type { Step } from "../../runlog/step.ts";

/** Phase 4, and the end of every node: appends the step. Whoever is second goes on from the winner's record. */
export async function checkpoint(log: RunLog, step: Step): Promise<Step> {
  return (await log.append(step)).record;
}
