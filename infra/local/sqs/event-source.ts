import { setTimeout as pause } from "node:timers/promises";
import { DeleteMessageBatchCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { InvokeResult } from "../lambda/lambda-failure.ts";
import { readBatchResponse } from "./batch-response.ts";
import { queueArn } from "./create-queues.ts";
import { toSqsRecord, type SqsEvent, type SqsRecord } from "./sqs-event.ts";

export type InvokeFunction = (functionName: string, payload: unknown) => Promise<InvokeResult>;

export interface SqsEventSourceOptions {
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly functionName: string;
  readonly invoke: InvokeFunction;
  /** 1 to 10, SQS's own limit of a receive. */
  readonly batchSize: number;
  /** Batches in flight at once; never two of one group, which SQS sees to. @default 2, Lambda's least */
  readonly concurrency?: 1 | 2;
  /** Told of every batch that stays in the queue, and of a queue that cannot be reached. @default nobody */
  readonly onError?: (fault: Error) => void;
}

export interface SqsEventSource {
  /** Receives nothing more from now on, and ends when the batch in hand is done: a function that hangs holds it up until it is ended. */
  stop(): Promise<void>;
}

/** A poll cannot be taken back: the queue would hand a message to nobody and count that as a receive. So `stop` waits this long at most. */
const pollSeconds = 1;
const retryMs = 500;

/**
 * Feeds a queue to a function as Lambda's event source mapping does, partial batch responses on. What succeeded is deleted; the rest is left
 * to its visibility timeout and the redrive policy. For the order within a group, the function reports the first failure and all after it.
 * @throws Error where the queue does not exist or `batchSize` is out of range.
 */
export async function startEventSource(options: SqsEventSourceOptions): Promise<SqsEventSource> {
  const { client, queueUrl, batchSize, concurrency = 2, onError = () => undefined } = options;
  const inRange = Number.isInteger(batchSize) && batchSize >= 1 && batchSize <= 10;
  if (!inRange) throw new Error(`expected a batchSize from 1 to 10, found ${batchSize}: SQS receives no more at once`);
  const arn = await queueArn(client, queueUrl);
  const stopping = new AbortController();

  const poll = async () => {
    while (!stopping.signal.aborted) {
      try {
        const records = await receive(options, arn);
        if (records.length > 0) await handleBatch(options, records);
      } catch (thrown) {
        onError(new Error(`the queue ${queueUrl} cannot be reached and is asked again`, { cause: thrown }));
        await pause(retryMs, undefined, { signal: stopping.signal }).catch(() => undefined); // stop cuts it short
      }
    }
  };
  const polls = Array.from({ length: concurrency }, poll);
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(polls);
    },
  };
}

async function receive({ client, queueUrl, batchSize }: SqsEventSourceOptions, arn: string): Promise<SqsRecord[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: batchSize,
      WaitTimeSeconds: pollSeconds,
      MessageSystemAttributeNames: ["All"],
      MessageAttributeNames: ["All"],
    }),
  );
  return Messages.map((message) => toSqsRecord(message, arn));
}

async function handleBatch(options: SqsEventSourceOptions, records: readonly SqsRecord[]): Promise<void> {
  const { functionName, invoke, onError = () => undefined } = options;
  const messageIds = records.map(({ messageId }) => messageId);
  const stays = (ids: readonly string[], why: string) =>
    onError(new Error(`${functionName} did not finish ${ids.join(", ")}, received again later: ${why}`));

  const event: SqsEvent = { Records: records };
  const result = await invoke(functionName, event).catch(invokeBroke);
  if (!result.ok) return stays(messageIds, `${result.error}: ${result.cause}`);

  const verdict = readBatchResponse(result.payload, messageIds);
  if (verdict.kind === "invalid") return stays(messageIds, verdict.why);
  if (verdict.failedIds.size > 0) stays([...verdict.failedIds], "it reported them as failed");
  await remove(
    options,
    records.filter(({ messageId }) => !verdict.failedIds.has(messageId)),
  );
}

/** The port promises a result; a rejection must not end the poll all the same. */
function invokeBroke(thrown: unknown): InvokeResult {
  return { ok: false, error: "Lambda.Unknown", cause: thrown instanceof Error ? thrown.message : String(thrown) };
}

async function remove(options: SqsEventSourceOptions, records: readonly SqsRecord[]): Promise<void> {
  if (records.length === 0) return;
  const Entries = records.map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }));
  const { Failed = [] } = await options.client.send(
    new DeleteMessageBatchCommand({ QueueUrl: options.queueUrl, Entries }),
  );
  for (const { Id, Message } of Failed) {
    const id = records[Number(Id)]?.messageId;
    options.onError?.(
      new Error(`${id} was handled but not deleted, so it is received again: ${Message ?? "no reason"}`),
    );
  }
}
