import { DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

/**
 * The document client every adapter uses. The SDK's own retries stay on here, unlike for tools and models: each of our writes carries a
 * write id, so a repeated one is recognised as ours and changes nothing.
 */
export const createDocumentClient = (config: DynamoDBClientConfig = {}): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(new DynamoDBClient({ maxAttempts: 4, ...config }), {
    marshallOptions: { removeUndefinedValues: true },
  });
