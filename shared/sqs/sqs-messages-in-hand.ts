import { ChangeMessageVisibilityCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { MessagesInHand } from "../ports/messages-in-hand.ts";

/** Messages that Lambda received for its function: it leaves a reported failure to the visibility timeout, which is changed here. */
export const sqsMessagesInHand = (client: SQSClient, queueUrl: string): MessagesInHand => ({
  async handBack(receiptHandle, afterSeconds) {
    await client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: queueUrl,
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: afterSeconds,
      }),
    );
  },
});
