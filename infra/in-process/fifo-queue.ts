import type { SendMessageCommand } from "@aws-sdk/client-sqs";
import { type SQSClient } from "@aws-sdk/client-sqs";
import type { DeliveryQueueSettings } from "../../shared/sqs/delivery-queue-settings.ts";
import { readBatchResponse } from "../local/sqs/batch-response.ts";
import type { InvokeResult } from "../local/lambda/lambda-failure.ts";
import type { Actor } from "./actor.ts";
import { verbOf } from "./describe-command.ts";
import type { Scheduler } from "./scheduler.ts";
import type { VirtualClock } from "./virtual-clock.ts";

export interface QueuedMessage {
  readonly messageId: string;
  readonly body: string;
  readonly group: string;
  /** Times it was handed out. */
  readonly receives: number;
}

interface Held extends QueuedMessage {
  receives: number;
}

/** SQS drops a message with a deduplication id that it has seen within this time. From the FIFO queues page of its guide. */
const deduplicationMs = 5 * 60_000;

export interface FifoQueueOptions {
  readonly clock: VirtualClock;
  readonly settings: DeliveryQueueSettings;
  /** Hands one message to the worker. Never rejects. */
  readonly deliver: (event: object) => Promise<InvokeResult>;
}

/**
 * SQS FIFO with the event source behind it, on the time of this world: within a group one message at a time and in order. One that was not
 * done with stays unseen until its visibility timeout, and its group waits; after `receivesMax` receives it lies among the dead letters.
 */
export class FifoQueue {
  readonly #options: FifoQueueOptions;
  readonly #groups = new Map<string, { readonly messages: Held[]; busy: boolean }>();
  readonly #seen = new Map<string, number>();
  readonly #deadLetters: QueuedMessage[] = [];
  #count = 0;

  constructor(options: FifoQueueOptions) {
    this.#options = options;
  }

  get messages(): readonly QueuedMessage[] {
    return [...this.#groups.values()].flatMap(({ messages }) => messages);
  }

  get deadLetters(): readonly QueuedMessage[] {
    return this.#deadLetters;
  }

  /** The queue as one process sees it. */
  client(actor: Actor, scheduler: Scheduler): SQSClient {
    let copies = 0;
    const send = (command: SendMessageCommand): Promise<unknown> => {
      const { MessageBody = "", MessageGroupId = "", MessageDeduplicationId = "" } = command.input;
      copies = 0;
      return scheduler.pass(actor, {
        port: "queue",
        verb: verbOf(command),
        ids: { group: MessageGroupId, deduplication_id: MessageDeduplicationId },
        // A message that is to arrive twice has passed what drops repeats.
        land: async () =>
          this.#accept(MessageBody, MessageGroupId, `${MessageDeduplicationId}${copies++ > 0 ? `/${copies}` : ""}`),
        dropped: { MessageId: "lost" },
      });
    };
    // Only `send` is used of it.
    return { send } as unknown as SQSClient;
  }

  #accept(body: string, group: string, deduplicationId: string): { readonly MessageId: string } {
    const { clock } = this.#options;
    const seenMs = this.#seen.get(deduplicationId);
    const messageId = `message-${++this.#count}`;
    if (seenMs !== undefined && clock.now() < seenMs + deduplicationMs) return { MessageId: messageId };
    this.#seen.set(deduplicationId, clock.now());
    const line = this.#groups.get(group) ?? { messages: [], busy: false };
    this.#groups.set(group, line);
    line.messages.push({ messageId, body, group, receives: 0 });
    this.#handOut(group);
    return { MessageId: messageId };
  }

  #handOut(group: string): void {
    const line = this.#groups.get(group);
    const [message] = line?.messages ?? [];
    if (!line || line.busy || !message) return;
    if (message.receives >= this.#options.settings.receivesMax) {
      line.messages.shift();
      this.#deadLetters.push(message);
      return this.#handOut(group);
    }
    line.busy = true;
    message.receives++;
    // What comes of it within the visibility timeout; afterwards nobody waits for it.
    let visible = false;
    const again = () => {
      visible = true;
      line.busy = false;
      this.#handOut(group);
    };
    const cancel = this.#options.clock.set(again, this.#options.settings.visibilityTimeoutSeconds * 1_000);
    void this.#options.deliver(eventOf(message)).then((result) => {
      if (!isDone(result, message)) return;
      line.messages.splice(line.messages.indexOf(message), line.messages.includes(message) ? 1 : 0);
      if (visible) return;
      cancel();
      again();
    });
  }
}

const eventOf = ({ messageId, body, receives }: QueuedMessage) => ({
  Records: [{ messageId, receiptHandle: messageId, body, attributes: { ApproximateReceiveCount: String(receives) } }],
});

function isDone(result: InvokeResult, { messageId }: QueuedMessage): boolean {
  if (!result.ok) return false;
  const verdict = readBatchResponse(result.payload, [messageId]);
  return verdict.kind === "read" && verdict.failedIds.size === 0;
}
