import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { sha256Hex } from "../operation/canonical-json.ts";
import type { DeliveryQueue } from "../ports/delivery-queue.ts";

/** SQS's limit on a message group id, in characters. */
const groupCharsMax = 128;
/** What SQS takes in a group id without escaping. */
const groupText = /^[A-Za-z0-9!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]+$/u;

/**
 * Deliveries over an SQS FIFO queue. The deduplication id is the operation and its attempt, so that a repeated send within SQS's five
 * minutes is dropped; whatever comes later meets the ledger.
 */
export function sqsDeliveryQueue(client: SQSClient, queueUrl: string): DeliveryQueue {
  return {
    async send({ operationId, group, attempt }) {
      await client.send(
        new SendMessageCommand({
          QueueUrl: queueUrl,
          MessageBody: JSON.stringify({ operation_id: operationId }),
          MessageGroupId: group.length <= groupCharsMax && groupText.test(group) ? group : sha256Hex(group),
          MessageDeduplicationId: attempt === 0 ? operationId : `${operationId}-${attempt}`,
        }),
      );
    },
  };
}
