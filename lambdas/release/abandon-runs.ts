import { type Clock, isoTime } from "../../shared/ports/clock.ts";
import type { RunLog } from "../../shared/runlog/run-log.ts";
import { openRunStatuses } from "../../shared/runlog/run-record.ts";

/** Runs at a time: enough to hide the way there and back. */
const atOnce = 16;

export interface AbandonPorts {
  readonly log: Pick<RunLog, "listOpenRuns" | "read" | "change" | "closeWaiter">;
  readonly clock: Clock;
}

/**
 * Ends the open runs of agents that a deployment takes away, since nothing is left that could go on with them, or tell those who wait:
 * each sweep would try. What they did outside stays in the ledger. Safe to repeat.
 * @returns how many ended.
 */
export async function abandonRuns(agents: readonly string[], { log, clock }: AbandonPorts): Promise<number> {
  if (agents.length === 0) return 0;
  const abandon = async (runId: string): Promise<boolean> => {
    const history = await log.read(runId);
    if (!history) return false;
    const ended = await log.change(history.run, openRunStatuses, { status: "CANCELLED", outcome: "abandoned" });
    const open = history.waiters.filter((waiter) => waiter.status === "OPEN");
    await Promise.all(open.map((waiter) => log.closeWaiter(waiter, isoTime(clock.nowMs()))));
    return ended;
  };
  const ids = (await log.listOpenRuns()).filter((run) => agents.includes(run.agent)).map((run) => run.run_id);
  let ended = 0;
  for (let from = 0; from < ids.length; from += atOnce) {
    const done = await Promise.all(ids.slice(from, from + atOnce).map(abandon));
    ended += done.filter(Boolean).length;
  }
  return ended;
}
