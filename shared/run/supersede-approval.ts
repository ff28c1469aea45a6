import type { StaleReason } from "../approval/approval.ts";
import { isoTime } from "../ports/clock.ts";
import type { Step } from "../runlog/step.ts";
import { checkpoint } from "../operation/phases/checkpoint.ts";
import { parseWaiterId, type Waiter } from "../waiter/waiter.ts";
import { answerStep } from "./answer-waiter.ts";
import type { RunPorts } from "./ports.ts";

/**
 * Ends a question that nobody has answered, because another request or version would now be sent: the run asks anew behind it. Whoever
 * answers at the same moment may be first. @returns the step that counts.
 */
export async function supersedePending(waiter: Waiter, reason: StaleReason, ports: RunPorts): Promise<Step> {
  const at = isoTime(ports.clock.nowMs());
  const mine = await answerStep(waiter, { outcome: "superseded", comment: reason, at }, ports);
  const step = await checkpoint(ports.log, mine);
  if (step.write_id === mine.write_id) {
    await ports.log.supersede(waiter, { reason, at });
    // Nobody is told: who waits on its token is another execution, which stops at its next look.
    await ports.log.closeWaiter((await ports.log.readWaiter(waiter.run_id, waiter.position)) ?? waiter, at);
    logSuperseded(waiter, reason, ports);
  }
  return step;
}

/** Marks a decision that failed its check at dispatch: it counts no more, even if the world is back as it was. */
export async function supersedeDecision(
  approvalId: string,
  { reason, comment }: { readonly reason: StaleReason; readonly comment: string | undefined },
  ports: RunPorts,
): Promise<void> {
  const asked = parseWaiterId(approvalId);
  if (!asked) return;
  const waiter = { run_id: asked.runId, position: asked.position };
  const at = isoTime(ports.clock.nowMs());
  await ports.log.supersede(waiter, { reason, ...(comment !== undefined && { comment }), at });
  logSuperseded(waiter, reason, ports);
}

const logSuperseded = (
  { run_id, position }: { readonly run_id: string; readonly position: string },
  reason: StaleReason,
  { logger }: RunPorts,
) => logger.info("approval superseded", { run_id, position, reason });
