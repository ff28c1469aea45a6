import { z } from "zod";
import type { RunPorts } from "../../shared/run/ports.ts";
import { settleRun } from "../../shared/run/settle-run.ts";
import { orPassing } from "../or-passing.ts";

export const SettleEvent = z.object({
  run_id: z.string(),
  execution: z.string(),
  error: z.string(),
  /** Told by states that can compensate. */
  action: z.literal("compensate").optional(),
});

/** Records why an execution stopped, and whether its run is compensated first. */
export const createSettleHandler = (ports: RunPorts) => async (event: unknown) => {
  const { run_id, execution, error, action } = SettleEvent.parse(event);
  return orPassing(`settle ${run_id}`, () => settleRun(run_id, execution, error, ports, action === "compensate"));
};
