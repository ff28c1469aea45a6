import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { z } from "zod";
import { type Item, parseItem, queryAll } from "../dynamo/dynamo-item.ts";
import { pageOpen } from "../dynamo/dynamo-page-open.ts";
import { openShards } from "../tables/table-schema.ts";
import { Waiter } from "../waiter/waiter.ts";
import type { RunLog, RunSummary } from "./run-log.ts";
import { RunStatus } from "./run-record.ts";

const Summary = z.object({
  run_id: z.string(),
  agent: z.string(),
  workflow_id: z.string(),
  workflow_version: z.number(),
  status: RunStatus,
  waiting_for: z.string().optional(),
  created_at: z.string(),
  updated_at: z.string(),
});

/** Runs of one workflow id that a listing shows: far more than any task is run again. */
const runsOfWorkflowMax = 100;

/** The listing half of the run log. Indexes are eventually consistent: they find ids for people, and decide nothing. */
export function dynamoRunIndexes(
  client: DynamoDBDocumentClient,
  table: string,
): Pick<
  RunLog,
  "listRuns" | "listRunsOfWorkflow" | "listOpenRuns" | "listOpenWaiters" | "pageOpenRuns" | "pageOpenWaiters"
> {
  const summary = (item: Item): RunSummary => parseItem(Summary, item, `run ${String(item["run_id"])}`);
  const query = (index: string, attribute: string, value: string, itemsMax?: number, newestFirst = false) =>
    queryAll(
      client,
      {
        TableName: table,
        IndexName: index,
        KeyConditionExpression: "#key = :value",
        ExpressionAttributeNames: { "#key": attribute },
        ExpressionAttributeValues: { ":value": value },
        ScanIndexForward: !newestFirst,
        ...(itemsMax !== undefined && { Limit: itemsMax }),
      },
      itemsMax,
    );
  const open = async (kind: string) =>
    (await Promise.all(openShards(kind).map((shard) => query("open", "open_shard", shard)))).flat();

  return {
    listRuns: async ({ agent, limit }) =>
      (await query("by-agent", "agent_runs", agent, limit, true)).filter((item) => item["item"] === "RUN").map(summary),
    listRunsOfWorkflow: async (workflowId) =>
      (await query("by-workflow", "workflow_runs", workflowId, runsOfWorkflowMax, true)).map(summary),
    listOpenRuns: async () => (await open("run")).map(summary),
    listOpenWaiters: async () =>
      (await open("waiter"))
        .map((item) => parseItem(Waiter, { ...item, status: "OPEN" }, `waiter of run ${String(item["run_id"])}`))
        .sort((a, b) => a.requested_at.localeCompare(b.requested_at)),
    async pageOpenRuns(limit, after) {
      const page = await pageOpen(client, table, "run", limit, after);
      // Keys alone: whoever sweeps reads the record itself, and one that cannot be read must not hide the rest of its page.
      return { ...page, items: page.items.map((item) => ({ run_id: String(item["run_id"]) })) };
    },
    async pageOpenWaiters(limit, after) {
      const page = await pageOpen(client, table, "waiter", limit, after);
      return {
        ...page,
        items: page.items.map((item) => ({ run_id: String(item["run_id"]), position: String(item["position"]) })),
      };
    },
  };
}
