import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
  type Message,
} from "@aws-sdk/client-sqs";
import { expect, onTestFinished } from "vitest";
import type { InvokeResult } from "../../../../infra/local/lambda/lambda-failure.ts";
import { startEventSource, type SqsEventSourceOptions } from "../../../../infra/local/sqs/event-source.ts";
import { startLocalSqs } from "../../../../infra/local/sqs/local-sqs.ts";
import type { QueueSchema } from "../../../../infra/local/sqs/queue-schema.ts";
import type { SqsEvent, SqsRecord } from "../../../../infra/local/sqs/sqs-event.ts";

export const deliveries = {
  name: "deliveries.fifo",
  visibilityTimeoutSeconds: 30,
  maxReceiveCount: 5,
  deadLetterName: "deliveries-dead.fifo",
} satisfies QueueSchema;

/** A queue of its own, and the SDK's client with nothing changed but the endpoint. Both end with the test. */
export async function aQueue(changes: Partial<QueueSchema> = {}) {
  const schema: QueueSchema = { ...deliveries, ...changes };
  const sqs = await startLocalSqs({ queues: [schema] });
  const client = sdkClient(sqs.endpoint);
  onTestFinished(async () => {
    client.destroy();
    await sqs.stop();
  });
  const urlOf = (queue: "main" | "dead") => sqs.urlOf(queue === "main" ? schema.name : schema.deadLetterName);

  return {
    sqs,
    client,
    queueUrl: urlOf("main"),

    async send(body: string, group = "run-1", deduplicationId = body): Promise<string> {
      const { MessageId = "" } = await client.send(
        new SendMessageCommand({
          QueueUrl: urlOf("main"),
          MessageBody: body,
          MessageGroupId: group,
          MessageDeduplicationId: deduplicationId,
        }),
      );
      return MessageId;
    },

    /** One receive of up to ten. `waitSeconds` ends early when something arrives. */
    async receive({ queue = "main", waitSeconds = 0 }: { queue?: "main" | "dead"; waitSeconds?: number } = {}): Promise<
      Message[]
    > {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: urlOf(queue),
          MaxNumberOfMessages: 10,
          WaitTimeSeconds: waitSeconds,
          MessageSystemAttributeNames: ["All"],
        }),
      );
      return Messages;
    },

    async remove(message: Message | undefined): Promise<void> {
      await client.send(
        new DeleteMessageCommand({ QueueUrl: urlOf("main"), ReceiptHandle: message?.ReceiptHandle ?? "" }),
      );
    },

    /** Messages that wait and messages in flight. */
    async counts(queue: "main" | "dead" = "main"): Promise<{ waiting: number; inFlight: number }> {
      const { Attributes } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl: urlOf(queue), AttributeNames: ["All"] }),
      );
      return {
        waiting: Number(Attributes?.ApproximateNumberOfMessages),
        inFlight: Number(Attributes?.ApproximateNumberOfMessagesNotVisible),
      };
    },
  };
}

export type TestQueue = Awaited<ReturnType<typeof aQueue>>;

const silent = () => undefined;

export const sdkClient = (endpoint?: string) =>
  new SQSClient({
    ...(endpoint === undefined ? {} : { endpoint }),
    region: "us-east-1",
    logger: { trace: silent, debug: silent, info: silent, warn: silent, error: silent }, // it tells of every queue on another host
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });

export function aGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

export type Answer = (event: SqsEvent) => InvokeResult | Promise<InvokeResult>;

/** Consumes the queue with a function that is `answer`. Ends with the test. */
export async function consume(
  { client, queueUrl, sqs }: Pick<TestQueue, "client" | "queueUrl" | "sqs">,
  answer: Answer,
  options: Partial<SqsEventSourceOptions> = {},
) {
  const events: SqsEvent[] = [];
  const faults: string[] = [];
  const source = await startEventSource({
    client,
    queueUrl,
    functionName: "deliver",
    batchSize: 10,
    concurrency: 1,
    invoke: async (_name, payload) => {
      const event = payload as SqsEvent;
      events.push(event);
      return answer(event);
    },
    onError: ({ message }) => faults.push(message),
    ...options,
  });
  onTestFinished(async () => {
    await Promise.all([source.stop(), sqs.stop()]); // together, so that the queue ends the last poll early
  });
  return { source, events, faults, bodies: () => events.map(({ Records }) => Records.map(({ body }) => body)) };
}

export const succeeded = (payload: unknown = null): InvokeResult => ({ ok: true, payload });
export const reportFailed = (records: readonly SqsRecord[]): InvokeResult =>
  succeeded({ batchItemFailures: records.map(({ messageId }) => ({ itemIdentifier: messageId })) });

/** A redelivery takes a visibility timeout of 1 s and a poll. */
export const soon = { timeout: 8_000, interval: 20 };

export const untilEmpty = (queue: TestQueue) =>
  expect.poll(() => queue.counts(), soon).toEqual({ waiting: 0, inFlight: 0 });
