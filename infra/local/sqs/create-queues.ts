import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { QueueSchema } from "./queue-schema.ts";

/** Creates what does not exist, dead letter queues first. Gives the URL of every queue by its name. */
export async function createQueues(
  endpoint: string,
  schemas: readonly QueueSchema[],
): Promise<ReadonlyMap<string, string>> {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new SQSClient({ endpoint, region: "us-east-1", credentials });
  const urls = new Map<string, string>();
  try {
    for (const schema of schemas) {
      checkSchema(schema);
      const deadLetterUrl = await create(client, schema.deadLetterName, {});
      const RedrivePolicy = JSON.stringify({
        deadLetterTargetArn: await queueArn(client, deadLetterUrl),
        maxReceiveCount: schema.maxReceiveCount,
      });
      const VisibilityTimeout = String(schema.visibilityTimeoutSeconds);
      urls.set(schema.deadLetterName, deadLetterUrl);
      urls.set(schema.name, await create(client, schema.name, { VisibilityTimeout, RedrivePolicy }));
    }
  } finally {
    client.destroy();
  }
  return urls;
}

/** @throws SDK error where the queue does not exist. */
export async function queueArn(client: SQSClient, queueUrl: string): Promise<string> {
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ["QueueArn"] }),
  );
  const arn = Attributes?.QueueArn;
  if (arn === undefined) throw new Error(`expected an ARN of ${queueUrl}, found none: is this endpoint SQS?`);
  return arn;
}

async function create(client: SQSClient, name: string, attributes: Record<string, string>): Promise<string> {
  const { QueueUrl } = await client.send(
    new CreateQueueCommand({
      QueueName: name,
      Attributes: { FifoQueue: "true", ContentBasedDeduplication: "false", ...attributes },
    }),
  );
  if (QueueUrl === undefined) throw new Error(`expected a URL of the new queue ${name}, found none`);
  return QueueUrl;
}

/** What SQS refuses and fauxqs takes. */
function checkSchema({ name, deadLetterName, maxReceiveCount }: QueueSchema): void {
  for (const each of [name, deadLetterName]) {
    const allowed = each.length <= 80 && /^[A-Za-z0-9_-]+\.fifo$/.test(each);
    if (!allowed) {
      throw new Error(
        `expected a queue name of at most 80 letters, digits, - or _ that ends in .fifo, found ${each}: rename it`,
      );
    }
  }
  if (name === deadLetterName) {
    throw new Error(`expected a dead letter queue beside ${name}, found itself: give it a name of its own`);
  }
  const inRange = Number.isInteger(maxReceiveCount) && maxReceiveCount >= 1 && maxReceiveCount <= 1_000;
  if (!inRange) {
    throw new Error(`expected a maxReceiveCount of ${name} from 1 to 1000, found ${maxReceiveCount}: change it`);
  }
}
