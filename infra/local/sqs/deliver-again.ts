import { seededRandom } from "../seeded-random.ts";
import type { InvokeResult } from "../lambda/lambda-failure.ts";
import { readBatchResponse } from "./batch-response.ts";
import type { InvokeFunction } from "./event-source.ts";
import type { SqsEvent, SqsRecord } from "./sqs-event.ts";

export interface DeliverAgainOptions {
  /** Deliveries of each message, 1 or more. */
  readonly times: number;
  /** The same seed gives the same orders, as long as the batches are the same. */
  readonly seed: number;
}

/**
 * Wraps an event source's `invoke` for drills of at-least-once delivery: every message of a batch arrives `times` times, one to an
 * invocation, one after another, shuffled, with a receive count and receipt handle of its own. As in SQS one success is enough to have the
 * message deleted, whatever its other deliveries came to; where no message had one, the last failure is the batch's.
 */
export function deliverAgain(invoke: InvokeFunction, { times, seed }: DeliverAgainOptions): InvokeFunction {
  const random = seededRandom(seed);
  return async (functionName, payload) => {
    const { Records } = payload as SqsEvent; // an event source sends nothing else
    const received = new Map<string, number>();
    const unfinished = new Set(Records.map(({ messageId }) => messageId));
    let lastFailure: InvokeResult | undefined;

    for (const record of shuffled(repeated(Records, times), random)) {
      const earlier = received.get(record.messageId) ?? 0;
      received.set(record.messageId, earlier + 1);
      const event: SqsEvent = { Records: [redelivered(record, earlier)] };
      const result = await invoke(functionName, event);
      if (!result.ok) lastFailure = result;
      else if (succeeded(result.payload, record)) unfinished.delete(record.messageId);
    }
    const noneSucceeded = unfinished.size === Records.length;
    if (noneSucceeded && lastFailure) return lastFailure;
    return { ok: true, payload: { batchItemFailures: [...unfinished].map((itemIdentifier) => ({ itemIdentifier })) } };
  };
}

const repeated = (records: readonly SqsRecord[], times: number) => Array.from({ length: times }, () => records).flat();

function redelivered(record: SqsRecord, earlier: number): SqsRecord {
  const ApproximateReceiveCount = String(Number(record.attributes.ApproximateReceiveCount) + earlier);
  const receiptHandle = earlier === 0 ? record.receiptHandle : `${record.receiptHandle}#${earlier}`;
  return { ...record, receiptHandle, attributes: { ...record.attributes, ApproximateReceiveCount } };
}

function succeeded(returned: unknown, { messageId }: SqsRecord): boolean {
  const verdict = readBatchResponse(returned, [messageId]);
  return verdict.kind === "read" && verdict.failedIds.size === 0;
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const order = items.map((item) => ({ item, key: random() }));
  return order.sort((a, b) => a.key - b.key).map(({ item }) => item);
}
