import { type ChangeMessageVisibilityCommand, SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { Actor } from "./actor.ts";
import { verbOf } from "./describe-command.ts";
import type { FifoQueue } from "./fifo-queue.ts";
import type { Scheduler } from "./scheduler.ts";

/** SQS as one process sees it: the queue of this world, behind the gate. */
export function sqsStandIn(queue: FifoQueue, scheduler: Scheduler, actor: Actor): SQSClient {
  const send = (command: SendMessageCommand | ChangeMessageVisibilityCommand): Promise<unknown> =>
    command instanceof SendMessageCommand ? sendMessage(command) : changeVisibility(command);

  const sendMessage = (command: SendMessageCommand): Promise<unknown> => {
    const { MessageBody = "", MessageGroupId = "", MessageDeduplicationId: id = "" } = command.input;
    let copies = 0;
    return scheduler.pass(actor, {
      port: "queue",
      verb: verbOf(command),
      ids: { group: MessageGroupId, deduplication_id: id },
      // A message that is to arrive twice has passed what drops repeats.
      land: async () => queue.accept(MessageBody, MessageGroupId, ++copies > 1 ? `${id}/${copies}` : id),
      dropped: { MessageId: "lost" },
    });
  };
  const changeVisibility = (command: ChangeMessageVisibilityCommand): Promise<unknown> => {
    const { ReceiptHandle = "", VisibilityTimeout = 0 } = command.input;
    return scheduler.pass(actor, {
      port: "queue",
      verb: verbOf(command),
      ids: { receipt: ReceiptHandle },
      land: async () => queue.handBack(ReceiptHandle, VisibilityTimeout * 1_000),
      dropped: undefined,
    });
  };
  // Only `send` is used of it.
  return { send } as unknown as SQSClient;
}
