import { Duration } from "aws-cdk-lib";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
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
    const common = { fifo: true, enforceSSL: true, encryption: QueueEncryption.KMS, encryptionMasterKey: key };
    this.deadLetters = new Queue(this, "DeadLetters", { ...common, retentionPeriod: Duration.days(14) });
    this.queue = new Queue(this, "Queue", {
      ...common,
      visibilityTimeout: Duration.seconds(this.settings.visibilityTimeoutSeconds),
      retentionPeriod: Duration.days(4),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: this.settings.receivesMax },
    });
  }

  /** May hand an operation to the worker. */
  bindSender(fn: PlatformFunction): void {
    fn.setEnvironment(envNames.deliveryQueueUrl, this.queue.queueUrl);
    fn.allow({ actions: ["sqs:SendMessage"], resources: [this.queue.queueArn] });
    fn.allow({
      actions: ["kms:Decrypt", "kms:GenerateDataKey"],
      resources: [this.#key.keyArn],
      conditions: throughSqs,
    });
  }

  /** Is the worker. One message at a time: each is somebody's mail. */
  bindWorker(fn: PlatformFunction): void {
    fn.setEnvironment(envNames.receivesMax, String(this.settings.receivesMax));
    fn.function.addEventSource(new SqsEventSource(this.queue, { batchSize: 1, reportBatchItemFailures: true }));
  }
}

const throughSqs = { StringLike: { "kms:ViaService": "sqs.*.amazonaws.com" } };
