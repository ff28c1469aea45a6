import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { getItem, type Item, parseItem, putConditionally, queryAll } from "../dynamo/dynamo-item.ts";
import { pageOpen } from "../dynamo/dynamo-page-open.ts";
import { Fault } from "../faults/fault.ts";
import { openShard, openShards } from "../tables/table-schema.ts";
import { LedgerEntry, settledStatuses } from "./ledger-entry.ts";
import type { EntryWrite, LedgerStore } from "./ledger-store.ts";

/** The ledger in DynamoDB: one item an operation, every write conditional on the state and version it leaves. */
export function dynamoLedgerStore(client: DynamoDBDocumentClient, table: string): LedgerStore {
  const read = async (operationId: string) => {
    const item = await getItem(client, table, { operation_id: operationId });
    return item && fromItem(item);
  };

  async function put(
    entry: LedgerEntry,
    condition: string,
    names?: Record<string, string>,
    values?: Record<string, unknown>,
  ): Promise<EntryWrite> {
    const { written, item } = await putConditionally(
      client,
      {
        TableName: table,
        Item: toItem(entry),
        ConditionExpression: condition,
        ...(names && { ExpressionAttributeNames: names }),
        ...(values && { ExpressionAttributeValues: values }),
      },
      { operation_id: entry.operation_id },
    );
    if (item === undefined) {
      throw new Fault(
        "record_vanished",
        "retryable",
        `operation ${entry.operation_id} was refused and then not found: was it deleted?`,
      );
    }
    return { held: written, entry: written ? entry : fromItem(item) };
  }

  return {
    read,
    create: (entry) => put(entry, "attribute_not_exists(operation_id)"),
    replace: (entry, { status, version, attemptToken }) =>
      put(
        entry,
        `#status = :status AND #version = :version${attemptToken === undefined ? "" : " AND attempt_token = :token"}`,
        { "#status": "status", "#version": "version" },
        { ":status": status, ":version": version, ...(attemptToken !== undefined && { ":token": attemptToken }) },
      ),
    async listByRun(runId) {
      const items = await queryAll(client, {
        TableName: table,
        IndexName: "by-run",
        KeyConditionExpression: "run_id = :run",
        ExpressionAttributeValues: { ":run": runId },
      });
      return items.map(fromItem);
    },
    async pageOpen(status, limit, after) {
      const page = await pageOpen(client, table, status, limit, after);
      // Ids alone: whoever sweeps reads the entry itself, and one that cannot be read must not hide the rest of its page.
      return { ...page, items: page.items.map((item) => ({ operation_id: String(item["operation_id"]) })) };
    },
    async listOpen(status) {
      const shards = await Promise.all(
        openShards(status).map((shard) =>
          queryAll(client, {
            TableName: table,
            IndexName: "open",
            KeyConditionExpression: "open_shard = :shard",
            ExpressionAttributeValues: { ":shard": shard },
          }),
        ),
      );
      return shards
        .flat()
        .map(fromItem)
        .sort((a, b) => a.updated_at.localeCompare(b.updated_at));
    },
  };
}

/** The item's fixed names: an inline result is `result_json`, a large one `result_ref`; the request likewise. */
function toItem({ request, result, ...entry }: LedgerEntry): Item & { readonly write_id: string } {
  return {
    ...entry,
    ...("json" in request ? { request_json: request.json } : { request_ref: request.ref }),
    ...(result && ("json" in result ? { result_json: result.json } : { result_ref: result.ref })),
    ...(!settledStatuses.includes(entry.status) && { open_shard: openShard(entry.status, entry.operation_id) }),
  };
}

function fromItem(item: Item): LedgerEntry {
  const packed = (json: unknown, ref: unknown) => (json === undefined ? ref && { ref } : { json });
  return parseItem(
    LedgerEntry,
    {
      ...item,
      request: packed(item["request_json"], item["request_ref"]),
      result: packed(item["result_json"], item["result_ref"]),
    },
    `operation ${String(item["operation_id"])}`,
  );
}
