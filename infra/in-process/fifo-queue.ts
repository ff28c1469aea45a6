import type { DeliveryQueueSettings } from "../../shared/sqs/delivery-queue-settings.ts";
import { readBatchResponse } from "../local/sqs/batch-response.ts";
import type { InvokeResult } from "../local/lambda/lambda-failure.ts";
import type { VirtualClock } from "./virtual-clock.ts";

export interface QueuedMessage {
  readonly messageId: string;
  readonly body: string;
  readonly group: string;
  /** Times it was handed out. */
  readonly receives: number;
}

/** SQS drops a message with a deduplication id that it has seen within this time. From the FIFO queues page of its guide. */
const deduplicationMs = 5 * 60_000;

/** One group: its messages in order, and the first one's receiver. */
interface Line {
  readonly messages: QueuedMessage[];
  inHand?: { readonly receiptHandle: string; readonly cancel: () => void } | undefined;
}

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
  readonly #groups = new Map<string, Line>();
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

  /** Takes a message, unless one with this deduplication id was seen within five minutes. */
  accept(body: string, group: string, deduplicationId: string): { readonly MessageId: string } {
    const { clock } = this.#options;
    const seenMs = this.#seen.get(deduplicationId);
    const messageId = `message-${++this.#count}`;
    if (seenMs !== undefined && clock.now() < seenMs + deduplicationMs) return { MessageId: messageId };
    this.#seen.set(deduplicationId, clock.now());
    const line = this.#groups.get(group) ?? { messages: [] };
    this.#groups.set(group, line);
    line.messages.push({ messageId, body, group, receives: 0 });
    this.#handOut(line);
    return { MessageId: messageId };
  }

  /** A message in hand is seen again after this time instead. Of one that is in nobody's hand any more nothing changes. */
  handBack(receiptHandle: string, afterMs: number): void {
    const line = [...this.#groups.values()].find(({ inHand }) => inHand?.receiptHandle === receiptHandle);
    if (line) this.#untilSeen(line, receiptHandle, afterMs);
  }

  #handOut(line: Line): void {
    const [message] = line.messages;
    if (line.inHand || !message) return;
    const { settings, deliver } = this.#options;
    if (message.receives >= settings.receivesMax) {
      line.messages.shift();
      this.#deadLetters.push(message);
      return this.#handOut(line);
    }
    const received = { ...message, receives: message.receives + 1 };
    line.messages[0] = received;
    const receiptHandle = `${received.messageId}/${received.receives}`;
    this.#untilSeen(line, receiptHandle, settings.visibilityTimeoutSeconds * 1_000);
    void deliver(eventOf(received, receiptHandle)).then((result) => {
      // Deleted too late: it is on its way to somebody else, and stays.
      if (!isDone(result, received) || line.inHand?.receiptHandle !== receiptHandle) return;
      line.messages.shift();
      this.#letGo(line);
    });
  }

  #untilSeen(line: Line, receiptHandle: string, afterMs: number): void {
    line.inHand?.cancel();
    line.inHand = { receiptHandle, cancel: this.#options.clock.set(() => this.#letGo(line), afterMs) };
  }

  #letGo(line: Line): void {
    line.inHand?.cancel();
    line.inHand = undefined;
    this.#handOut(line);
  }
}

const eventOf = ({ messageId, body, receives }: QueuedMessage, receiptHandle: string) => ({
  Records: [{ messageId, receiptHandle, body, attributes: { ApproximateReceiveCount: String(receives) } }],
});

function isDone(result: InvokeResult, { messageId }: QueuedMessage): boolean {
  if (!result.ok) return false;
  const verdict = readBatchResponse(result.payload, [messageId]);
  return verdict.kind === "read" && verdict.failedIds.size === 0;
}
