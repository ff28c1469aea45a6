import { type DynamoDBDocumentClient, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { z } from "zod";
import { type OpenCursor, type OpenPage, openShards } from "../tables/table-schema.ts";
import type { Item } from "./dynamo-item.ts";

const Cursor = z.object({ shard: z.string(), key: z.record(z.string(), z.unknown()).optional() });

/**
 * One page of a table's sparse `open` index for `kind`, oldest first within a shard, shard after shard. Costs what is open, however large
 * the table is.
 */
export async function pageOpen(
  client: DynamoDBDocumentClient,
  table: string,
  kind: string,
  limit: number,
  after?: OpenCursor,
): Promise<OpenPage<Item>> {
  const shards = openShards(kind);
  const from = after === undefined ? undefined : Cursor.parse(JSON.parse(after));
  const items: Item[] = [];
  let key = from?.key;
  for (let index = Math.max(0, shards.indexOf(from?.shard ?? "")); index < shards.length; index++) {
    const shard = shards[index] ?? "";
    do {
      const page = await client.send(
        new QueryCommand({
          TableName: table,
          IndexName: "open",
          KeyConditionExpression: "open_shard = :shard",
          ExpressionAttributeValues: { ":shard": shard },
          Limit: limit - items.length,
          ...(key && { ExclusiveStartKey: key }),
        }),
      );
      items.push(...(page.Items ?? []));
      key = page.LastEvaluatedKey;
      if (items.length >= limit) return { items, ...nextCursor(shards, index, key) };
    } while (key !== undefined);
  }
  return { items };
}

/** The same shard where it has more, else the next one, else none. */
function nextCursor(shards: readonly string[], index: number, key: Item | undefined): { readonly next?: OpenCursor } {
  if (key !== undefined) return { next: JSON.stringify({ shard: shards[index], key }) };
  const shard = shards[index + 1];
  return shard === undefined ? {} : { next: JSON.stringify({ shard }) };
}
