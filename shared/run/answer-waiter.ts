import type { ApprovalOutcome } from "../approval/approval.ts";
import { wireError } from "../compile/wire-errors.ts";
import { checkpoint } from "../operation/phases/checkpoint.ts";
import { packValue, unpackValue } from "../payloads/claim-check.ts";
import { isoTime } from "../ports/clock.ts";
import type { Waker, WakeResult } from "../ports/executions.ts";
import type { Step } from "../runlog/step.ts";
import { type Waiter, waiterId } from "../waiter/waiter.ts";
import type { RunPorts } from "./ports.ts";

/** `told_before`: the waiter had its answer already. `waiting`: nobody has registered yet, and will find the answer. */
export type Told = WakeResult | "told_before" | "waiting";

/** Who wrote the answer that counts, and whether the run was woken. */
export interface Answered {
  readonly mine: boolean;
  readonly outcome: ApprovalOutcome;
  readonly wake: Told;
}

/**
 * Answers an approval. The answer is the step, and the first writer wins: two clicks, an expiry and a sweep all converge on it.
 * Order matters: the step is written, *then* the token is read and sent. Safe to repeat: it makes sure the run wakes.
 */
export async function answerApproval(
  waiter: Waiter,
  outcome: ApprovalOutcome,
  ports: RunPorts & { readonly waker: Waker },
): Promise<Answered> {
  const mine = await answerStep(waiter, outcome, ports);
  const step = await checkpoint(ports.log, mine);
  const recorded = (await unpackValue(ports.payloads, step.output)) as ApprovalOutcome;
  const wasMine = step.write_id === mine.write_id;
  if (wasMine) {
    const waitedMs = ports.clock.nowMs() - Date.parse(waiter.requested_at);
    ports.metrics.add(
      "approval_wait_seconds",
      { agent: waiter.agent, node: waiter.node },
      Math.round(waitedMs / 1_000),
    );
  }
  return { mine: wasMine, outcome: recorded, wake: await wakeAnswered(waiter, recorded, ports) };
}

/**
 * Where an answer leads, by the routes that were stored when the run parked. A question that was withdrawn ends like one nobody answered; one
 * that counts no more is asked anew.
 */
export function routeOf(waiter: Waiter, { outcome }: ApprovalOutcome): string {
  if (outcome === "superseded") return waiter.node;
  const next = waiter.routes[outcome] ?? (outcome === "cancelled" ? waiter.routes["expired"] : undefined);
  if (next === undefined)
    throw new RangeError(`waiter ${waiter.position} of run ${waiter.run_id} has no route for ${outcome}`);
  return next;
}

/** The step that is an answer. It names the question it answers. */
export const answerStep = async (
  waiter: Waiter,
  outcome: ApprovalOutcome,
  { payloads, clock, ids }: Pick<RunPorts, "payloads" | "clock" | "ids">,
): Promise<Step> => ({
  run_id: waiter.run_id,
  position: waiter.position,
  node: waiter.node,
  kind: "approval",
  fingerprint: waiter.fingerprint,
  outcome: "done",
  output: await packValue(payloads, waiter.run_id, {
    ...outcome,
    approval_id: waiterId(waiter.run_id, waiter.position),
  }),
  next: routeOf(waiter, outcome),
  workflow_version: waiter.workflow_version,
  created_at: isoTime(clock.nowMs()),
  write_id: ids.next(),
});

/**
 * Tells the waiter its recorded answer, and only then closes it: whoever dies in between leaves it open, and the sweep tells it again.
 * Repeating it is harmless: a token is good once.
 */
export async function wakeAnswered(
  { run_id, position }: Pick<Waiter, "run_id" | "position">,
  outcome: ApprovalOutcome,
  { log, clock, waker }: Pick<RunPorts, "log" | "clock"> & { readonly waker: Waker },
): Promise<Told> {
  const waiter = await log.readWaiter(run_id, position);
  if (waiter?.status === "ANSWERED") return "told_before";
  // Nobody has registered yet: who does reads the step after leaving its token.
  if (waiter?.task_token === undefined) return "waiting";
  const wake = await wakeWith(waiter.task_token, outcome, waker);
  await log.closeWaiter(waiter, isoTime(clock.nowMs()));
  return wake;
}

function wakeWith(taskToken: string, { outcome }: ApprovalOutcome, waker: Waker): Promise<WakeResult> {
  switch (outcome) {
    case "approved":
    case "not_required":
      return waker.succeed(taskToken);
    case "rejected":
      return waker.fail(taskToken, wireError.rejected);
    case "expired":
    case "cancelled":
      return waker.fail(taskToken, wireError.expired);
    case "superseded":
      // Another execution asks anew: this one is over.
      return waker.fail(taskToken, wireError.stale);
    default:
      return outcome satisfies never;
  }
}
