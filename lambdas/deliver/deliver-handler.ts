import { z } from "zod";
import { wireError } from "../../shared/compile/wire-errors.ts";
import { Fault, isFault } from "../../shared/faults/fault.ts";
import type { LedgerEntry } from "../../shared/ledger/ledger-entry.ts";
import { isoTime } from "../../shared/ports/clock.ts";
import type { MessagesInHand } from "../../shared/ports/messages-in-hand.ts";
import { wakeRunOf } from "../../shared/run/resolve-operation.ts";
import { nodeAt, Position } from "../../shared/runlog/position.ts";
import { stillWants } from "../../shared/runlog/run-record.ts";
import type { SweepPorts } from "../../shared/sweep/sweep-ports.ts";
import { isAwaited } from "../../shared/waiter/waiter.ts";
import { handBackSeconds } from "./hand-back-seconds.ts";

const SqsEvent = z.object({
  Records: z.array(
    z.object({
      messageId: z.string(),
      receiptHandle: z.string(),
      body: z.string(),
      attributes: z.object({ ApproximateReceiveCount: z.coerce.number() }),
    }),
  ),
});
const Message = z.object({ operation_id: z.string() });

/** What SQS deletes: everything but these. */
export interface BatchResponse {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

export type DeliverPorts = Pick<
  SweepPorts,
  "ledger" | "log" | "waker" | "executions" | "functions" | "payloads" | "clock" | "ids" | "metrics" | "logger"
>;

/**
 * The one reliable worker behind `delivery: "queue"`: has the operation's own function version deliver it, then wakes the run. A message
 * whose operation is settled, or in doubt, is done with: the ledger says so and the run goes on from it. One that cannot be delivered at all
 * is handed back, and comes to the dead letter queue in the end, with its run parked.
 */
export const createDeliverHandler =
  (receivesMax: number, ports: DeliverPorts, inHand: MessagesInHand = leftToTheQueue) =>
  async (event: unknown): Promise<BatchResponse> => {
    const failed: string[] = [];
    for (const { messageId, receiptHandle, body, attributes } of SqsEvent.parse(event).Records) {
      const receives = attributes.ApproximateReceiveCount;
      const delivered = await deliver(body, receives >= receivesMax, ports);
      if (delivered.done) continue;
      // FIFO: what comes after it in its group must not overtake it. The mapping hands out one message of a group at a time.
      failed.push(messageId);
      const seconds = handBackSeconds({ entry: delivered.entry, receives, receivesMax }, ports.clock.nowMs());
      await inHand.handBack(receiptHandle, seconds).catch((error: unknown) => {
        ports.logger.warn("left to the queue's own time", { code: error instanceof Error ? error.name : typeof error });
      });
    }
    return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
  };

const leftToTheQueue: MessagesInHand = { handBack: () => Promise.resolve() };

type Delivered = { readonly done: true } | { readonly done: false; readonly entry: LedgerEntry | undefined };
const done: Delivered = { done: true };

async function deliver(body: string, last: boolean, ports: DeliverPorts): Promise<Delivered> {
  const message = Message.safeParse(jsonOf(body));
  const entry = message.success ? await ports.ledger.read(message.data.operation_id) : undefined;
  if (!entry) {
    ports.logger.error("a message names no operation that can be delivered", { last });
    return { done: false, entry };
  }
  const failure = await deliverBy(entry, ports).then(
    () => undefined,
    (error: unknown) => error,
  );
  const after = (await ports.ledger.read(entry.operation_id)) ?? entry;
  if (!isAwaited({ kind: "delivery" }, after.status) || isForTheRun(failure)) {
    await wakeRunOf(after, ports);
    return done;
  }
  const run = await ports.log.readRun(entry.run_id);
  if (after.status === "PENDING" && (!run || !stillWants(run, nodeAt(Position.parse(entry.position))))) {
    // Called off on the way: nothing was sent, and nobody waits. No reason to wake somebody over the dead letter queue.
    ports.logger.info("not delivered, its run has ended or is compensated", {
      run_id: entry.run_id,
      operation_id: entry.operation_id,
    });
    return done;
  }
  ports.logger.warn("not delivered", {
    run_id: entry.run_id,
    operation_id: entry.operation_id,
    code: isFault(failure) ? failure.code : "in_flight",
    last,
  });
  if (last) await park(after, failure, ports);
  return { done: false, entry: after };
}

/** A check failed before anything was sent: the run meets the same one when it is back, and knows the way from there. */
const isForTheRun = (failure: unknown): boolean =>
  isFault(failure) && ["SentBack", "OperationConflict"].includes(String(failure.facts["error_type"]));

async function deliverBy({ function_arn, operation_id }: LedgerEntry, ports: DeliverPorts): Promise<void> {
  if (function_arn !== undefined) return ports.functions.deliver(function_arn, operation_id);
  throw new Fault("function_unnamed", "final", `operation ${operation_id} names no function that could deliver it`);
}

/** Its last chance came to nothing: the run stops waiting, and says why. */
async function park(entry: LedgerEntry, failure: unknown, ports: DeliverPorts): Promise<void> {
  const position = Position.parse(entry.position);
  await ports.log.noteFailure({
    run_id: entry.run_id,
    position,
    node: nodeAt(position),
    error: {
      code: "undeliverable",
      failure_class: "unknown",
      message: `operation ${entry.operation_id} could not be delivered: ${failure instanceof Error ? failure.message : "its worker did not come to an end"}. The message is in the dead letter queue`,
      facts: { operation_id: entry.operation_id },
    },
    updated_at: isoTime(ports.clock.nowMs()),
  });
  const waiter = await ports.log.readWaiter(entry.run_id, position);
  if (waiter?.kind !== "delivery" || waiter.status !== "OPEN") return;
  if (waiter.task_token !== undefined) await ports.waker.fail(waiter.task_token, wireError.undeliverable);
  await ports.log.closeWaiter(waiter, isoTime(ports.clock.nowMs()));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
