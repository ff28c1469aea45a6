import { sweep, sweepPageMax, type SweepReport } from "../../shared/sweep/sweep.ts";
import type { SweepPorts } from "../../shared/sweep/sweep-ports.ts";
import type { Invocation } from "../step/step-handler.ts";

/** Time kept back to write where it stopped, and for the look that is under way: one lookup with its tool's timeout. */
const reserveMs = 30_000;

/** One sweep, within the invocation's time. */
export const createSweepHandler =
  (ports: SweepPorts) =>
  async (_event: unknown, invocation: Invocation): Promise<SweepReport> => {
    const leftMs = invocation.getRemainingTimeInMillis();
    const deadlineMs = ports.clock.nowMs() + Math.max(leftMs - reserveMs, leftMs / 2);
    return sweep({ pageMax: sweepPageMax, deadlineMs }, ports);
  };
