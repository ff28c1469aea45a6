import { z } from "zod";
import type { RunPorts } from "../../shared/run/ports.ts";
import { settleRun } from "../../shared/run/settle-run.ts";

export const SettleEvent = z.object({ run_id: z.string(), execution: z.string(), error: z.string() });

/** Records why an execution stopped. */
export const createSettleHandler = (ports: RunPorts) => async (event: unknown) => {
  const { run_id, execution, error } = SettleEvent.parse(event);
  return settleRun(run_id, execution, error, ports);
};
