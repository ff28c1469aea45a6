import { type DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { z } from "zod";
import { getItem } from "../dynamo/dynamo-item.ts";
import type { SweepStateStore } from "./sweep-ports.ts";

/** Its partition in the runs table: a run id holds no colon. */
const key = { run_id: "SWEEP:", item: "STATE" } as const;

const Stored = z.object({ cursors: z.record(z.string(), z.string()), finished_at_ms: z.number().optional() });

/** Where the last sweep stopped. Not worth a condition: a page that two sweeps read is looked at twice. */
export const dynamoSweepState = (client: DynamoDBDocumentClient, table: string): SweepStateStore => ({
  async read() {
    const stored = Stored.safeParse(await getItem(client, table, key));
    // A shape of another version is no place to start from: the next sweep begins at the beginning.
    return { cursors: stored.data?.cursors ?? {}, finishedAtMs: stored.data?.finished_at_ms };
  },
  async write({ cursors, finishedAtMs }) {
    const Item = { ...key, cursors, ...(finishedAtMs !== undefined && { finished_at_ms: finishedAtMs }) };
    await client.send(new PutCommand({ TableName: table, Item }));
  },
});
