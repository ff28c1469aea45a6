import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import {
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  type PutCommandInput,
  QueryCommand,
  type QueryCommandInput,
} from "@aws-sdk/lib-dynamodb";
import type { z } from "zod";
import { RecordCorrupt } from "../faults/faults.ts";

export type Item = Readonly<Record<string, unknown>>;
export type Key = Readonly<Record<string, string>>;

export const isRefusedCondition = (error: unknown): boolean => error instanceof ConditionalCheckFailedException;

/** Parses a stored item. @throws RecordCorrupt: a record in another shape is an error, never other data. */
export function parseItem<S extends z.ZodType>(schema: S, item: Item, what: string): z.infer<S> {
  const parsed = schema.safeParse(item);
  if (parsed.success) return parsed.data;
  throw new RecordCorrupt(
    what,
    parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; "),
  );
}

export async function getItem(client: DynamoDBDocumentClient, table: string, key: Key): Promise<Item | undefined> {
  const found = await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }));
  return found.Item;
}

/**
 * One conditional put. A refused condition is read back: where the stored item carries this write's id, the write did land and only its
 * acknowledgement was lost (the SDK's own retry then meets our own item), which is success.
 * @returns whether the write holds, and the item that is stored now.
 */
export async function putConditionally(
  client: DynamoDBDocumentClient,
  put: PutCommandInput & { readonly Item: Item & { readonly write_id: string } },
  key: Key,
): Promise<{ readonly written: boolean; readonly item: Item | undefined }> {
  try {
    await client.send(new PutCommand(put));
    return { written: true, item: put.Item };
  } catch (error) {
    if (!isRefusedCondition(error)) throw error;
    const item = await getItem(client, put.TableName ?? "", key);
    return { written: item?.["write_id"] === put.Item.write_id, item };
  }
}

/** All pages of a query, in order. */
export async function queryAll(
  client: DynamoDBDocumentClient,
  query: QueryCommandInput,
  itemsMax = Infinity,
): Promise<Item[]> {
  const items: Item[] = [];
  let from: QueryCommandInput["ExclusiveStartKey"];
  do {
    const page = await client.send(new QueryCommand({ ...query, ...(from && { ExclusiveStartKey: from }) }));
    items.push(...(page.Items ?? []));
    from = page.LastEvaluatedKey;
  } while (from !== undefined && items.length < itemsMax);
  return items.slice(0, itemsMax === Infinity ? undefined : itemsMax);
}
