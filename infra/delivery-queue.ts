import { Aws, Duration } from "aws-cdk-lib";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { EventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { envNames } from "../lambdas/env.ts";
import { deliveryQueueSettings, type DeliveryQueueSettings } from "../shared/sqs/delivery-queue-settings.ts";
import type { PlatformFunction } from "./platform-function.ts";

export interface DeliveryQueueProps {
  readonly key: IKey;
  /** The longest step function of the stack: the worker waits for it. */
  readonly stepTimeoutSeconds: number;
}

/** Lambda ends every function after a quarter of an hour. */
const workerTimeoutSecondsMax = 900;

/** The FIFO queue behind `delivery: "queue"`, and where its poison ends. Its times follow from the step function's. */
export class DeliveryQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly settings: DeliveryQueueSettings;
  readonly #key: IKey;

  constructor(scope: Construct, id: string, { key, stepTimeoutSeconds }: DeliveryQueueProps) {
    super(scope, id);
    this.#key = key;
    this.settings = deliveryQueueSettings(stepTimeoutSeconds);
    checkWorkerTimeout(stepTimeoutSeconds, this.settings);
    const common = { fifo: true, enforceSSL: true, encryption: QueueEncryption.KMS, encryptionMasterKey: key };
    this.deadLetters = new Queue(this, "DeadLetters", { ...common, retentionPeriod: Duration.days(14) });
    this.queue = new Queue(this, "Queue", {
      ...common,
      visibilityTimeout: Duration.seconds(this.settings.visibilityTimeoutSeconds),
      retentionPeriod: Duration.days(4),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: this.settings.receivesMax },
    });
  }

  /**
   * May hand an operation to the worker. Every step function may, also one whose agent queues nothing: its role is shared with the versions
   * of earlier deployments, which may have queued.
   */
  bindSender(fn: PlatformFunction): void {
    fn.setEnvironment(envNames.deliveryQueueUrl, this.queue.queueUrl);
    fn.allow({ actions: ["sqs:SendMessage"], resources: [this.queue.queueArn] });
    // Decrypting is how SQS checks the data key it is given.
    this.#allowKey(fn, ["kms:Decrypt", "kms:GenerateDataKey"]);
  }

  /**
   * Is the worker. One message at a time: each is somebody's mail. Three of the actions are those of AWS's own
   * `AWSLambdaSQSQueueExecutionRole`, with which Lambda polls; with the fourth the worker hands a message back before its time. CDK's
   * event source would add another, and the key without the queue.
   */
  bindWorker(fn: PlatformFunction): void {
    fn.setEnvironment(envNames.deliveryQueueUrl, this.queue.queueUrl);
    fn.setEnvironment(envNames.receivesMax, String(this.settings.receivesMax));
    fn.allow({
      actions: ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ChangeMessageVisibility"],
      resources: [this.queue.queueArn],
    });
    this.#allowKey(fn, ["kms:Decrypt"]);
    new EventSourceMapping(this, "Worker", {
      target: fn.function,
      eventSourceArn: this.queue.queueArn,
      batchSize: 1,
      reportBatchItemFailures: true,
    });
  }

  /** The key, for this service's messages only: the tables and the bucket use it too. */
  #allowKey(fn: PlatformFunction, actions: readonly ("kms:Decrypt" | "kms:GenerateDataKey")[]): void {
    fn.allow({
      actions,
      resources: [this.#key.keyArn],
      conditions: { StringEquals: { "kms:ViaService": `sqs.${Aws.REGION}.${Aws.URL_SUFFIX}` } },
    });
  }
}

/** A worker that ended before the step function it waits for would take a delivery under way for a failed one. */
function checkWorkerTimeout(stepTimeoutSeconds: number, { workerTimeoutSeconds }: DeliveryQueueSettings): void {
  const tooLongSeconds = workerTimeoutSeconds - workerTimeoutSecondsMax;
  if (tooLongSeconds <= 0) return;
  throw new Error(
    `stepTimeoutSeconds: expected at most ${stepTimeoutSeconds - tooLongSeconds}, found ${stepTimeoutSeconds}: the queue's worker ` +
      `waits for the step function, and Lambda ends the worker after ${workerTimeoutSecondsMax} s; shorten the step function's time`,
  );
}
