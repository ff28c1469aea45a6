import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { z } from "zod";
import { getItem, parseItem, putConditionally } from "../dynamo/dynamo-item.ts";
import { PackedValue } from "../payloads/claim-check.ts";
import type { Clock } from "../ports/clock.ts";
import { isoTime } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { RunLog } from "./run-log.ts";

const Stored = z.object({ contract: PackedValue });

/** A partition of its own in the runs table, for all runs of that contract. No run id holds a `#`. */
const keyOf = (digest: string) => ({ run_id: `CONTRACT#${digest}`, item: "CONTRACT" });

export interface DynamoRunContractsOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The part of the run log that keeps what runs rely on, each content once. */
export function dynamoRunContracts({
  client,
  table,
  clock,
  ids,
}: DynamoRunContractsOptions): Pick<RunLog, "keepContract" | "readContract"> {
  // What this process has seen there: a contract is never taken away, and every start asks.
  const kept = new Set<string>();
  return {
    async keepContract(digest, pack) {
      if (kept.has(digest)) return;
      const key = keyOf(digest);
      if ((await getItem(client, table, key)) === undefined) {
        const Item = { ...key, contract: await pack(), created_at: isoTime(clock.nowMs()), write_id: ids.next() };
        await putConditionally(
          client,
          { TableName: table, Item, ConditionExpression: "attribute_not_exists(run_id)" },
          key,
        );
      }
      kept.add(digest);
    },
    async readContract(digest) {
      const item = await getItem(client, table, keyOf(digest));
      return item && parseItem(Stored, item, `contract ${digest}`).contract;
    },
  };
}
