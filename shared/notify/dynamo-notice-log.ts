import { type DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { z } from "zod";
import { getItem } from "../dynamo/dynamo-item.ts";
import type { NoticeLog } from "./notice-log.ts";

const Told = z.object({ told: z.set(z.string()) });

/** Beside the waiter, in the partition of its run. An item of its own: who is told is no part of where to resume from. */
export const dynamoNoticeLog = (client: DynamoDBDocumentClient, table: string): NoticeLog => ({
  async read(waiter) {
    // A shape of another version says nothing: then somebody is told twice.
    return Told.safeParse(await getItem(client, table, keyOf(waiter))).data?.told ?? new Set();
  },
  async add(waiter, marks) {
    if (marks.length === 0) return;
    await client.send(
      new UpdateCommand({
        TableName: table,
        Key: keyOf(waiter),
        // Two who tell at once both add theirs.
        UpdateExpression: "ADD told :marks",
        ExpressionAttributeValues: { ":marks": new Set(marks) },
      }),
    );
  },
});

const keyOf = ({ run_id, position }: { readonly run_id: string; readonly position: string }) => ({
  run_id,
  item: `NOTICE#${position}`,
});
