import { type DynamoDBDocumentClient, QueryCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { Fault } from "../faults/fault.ts";
import { type Item, isRefusedCondition } from "../dynamo/dynamo-item.ts";
import { openShard } from "../tables/table-schema.ts";
import type { Waiter } from "../waiter/waiter.ts";
import type { RunLog } from "./run-log.ts";

/** The partition of the index by agent that lists approvals. No agent's name holds a `#`. */
const partitionOf = (agent: string): string => `approval#${agent}`;

/** What the indexes need beside a waiter: all are listed while they are open, approvals also afterwards. */
export const waiterIndexAttributes = (waiter: Waiter): Item => ({
  open_shard: openShard("waiter", waiter.run_id),
  open_since: waiter.requested_at,
  ...(waiter.kind === "approval" && { agent_runs: partitionOf(waiter.agent), created_at: waiter.requested_at }),
});

export interface DynamoRunApprovalsOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly itemOf: (position: string) => string;
  readonly readWaiter: RunLog["readWaiter"];
}

/** The part of the run log that only approvals use. */
export function dynamoRunApprovals({
  client,
  table,
  itemOf,
  readWaiter,
}: DynamoRunApprovalsOptions): Pick<RunLog, "addVote" | "supersede" | "listApprovals"> {
  const update = (
    waiter: { readonly run_id: string; readonly position: string },
    expression: string,
    condition: string,
    names: Readonly<Record<string, string>>,
    values: Item,
  ) =>
    client
      .send(
        new UpdateCommand({
          TableName: table,
          Key: { run_id: waiter.run_id, item: itemOf(waiter.position) },
          UpdateExpression: expression,
          ConditionExpression: `attribute_exists(run_id) AND ${condition}`,
          ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
          ExpressionAttributeValues: values,
        }),
      )
      .then(
        () => true,
        (error: unknown) => {
          if (isRefusedCondition(error)) return false;
          throw error;
        },
      );

  return {
    async addVote(waiter, person, vote, quorum) {
      const written = await update(
        waiter,
        "SET votes.#person = :vote",
        "#status = :open AND attribute_not_exists(superseded) AND attribute_not_exists(votes.#person) AND size(votes) < :quorum",
        { "#person": person, "#status": "status" },
        { ":vote": vote, ":open": "OPEN", ":quorum": quorum },
      );
      // Read consistently: whoever adds the last vote that is needed sees that it is the last.
      const record = await readWaiter(waiter.run_id, waiter.position);
      if (!record) throw new Fault("record_vanished", "retryable", `the waiter ${waiter.position} is gone`);
      return { written, record };
    },

    async supersede(waiter, superseded) {
      await update(
        waiter,
        "SET superseded = :superseded",
        "attribute_not_exists(superseded)",
        {},
        { ":superseded": superseded },
      );
    },

    async listApprovals({ agent, limit, requestedBefore }) {
      const page = await client.send(
        new QueryCommand({
          TableName: table,
          IndexName: "by-agent",
          KeyConditionExpression: `agent_runs = :agent${requestedBefore === undefined ? "" : " AND created_at < :before"}`,
          ExpressionAttributeValues: {
            ":agent": partitionOf(agent),
            ...(requestedBefore !== undefined && { ":before": requestedBefore }),
          },
          ScanIndexForward: false,
          Limit: limit,
        }),
      );
      return (page.Items ?? []).map((item) => ({
        run_id: String(item["run_id"]),
        position: String(item["item"]).slice(itemOf("").length),
      }));
    },
  };
}
