import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { isRefusedCondition, parseItem, queryAll } from "../dynamo/dynamo-item.ts";
import { Release } from "./release.ts";
import type { Releases } from "./releases.ts";

/** A partition of its own in the runs table for each agent. No run id holds a `#`. */
const partitionOf = (agent: string) => `RELEASE#${agent}`;

/** Versions have at most this many digits, so that they lie in order. */
const digits = 10;

const keyOf = ({ agent, workflow_version, state_machine_arn }: Release) => ({
  run_id: partitionOf(agent),
  item: `${String(workflow_version).padStart(digits, "0")}#${state_machine_arn}`,
});

/** Releases in DynamoDB, one item each. */
export function dynamoReleases(client: DynamoDBDocumentClient, table: string): Releases {
  const list = async (agent: string) => {
    const items = await queryAll(client, {
      TableName: table,
      ConsistentRead: true,
      KeyConditionExpression: "run_id = :agent",
      ExpressionAttributeValues: { ":agent": partitionOf(agent) },
    });
    const releases = items.map((item) => parseItem(Release, item, `release ${String(item["item"])} of ${agent}`));
    return releases.sort(
      (a, b) => b.workflow_version - a.workflow_version || b.released_at.localeCompare(a.released_at),
    );
  };
  return {
    list,

    async keep(release) {
      const Item = { ...keyOf(release), ...release };
      await unlessRefused(
        client.send(new PutCommand({ TableName: table, Item, ConditionExpression: "attribute_not_exists(run_id)" })),
      );
    },

    async retire(agent, version, retirement) {
      const own = (await list(agent)).filter((release) => release.workflow_version === version);
      for (const release of own) {
        await unlessRefused(
          client.send(
            new UpdateCommand({
              TableName: table,
              Key: keyOf(release),
              UpdateExpression: "SET retired = :retired",
              ConditionExpression: "attribute_exists(run_id) AND attribute_not_exists(retired)",
              ExpressionAttributeValues: { ":retired": retirement },
            }),
          ),
        );
      }
      return own.length > 0;
    },
  };
}

/** A refusal says that it is there already, by this writer or another. */
async function unlessRefused(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isRefusedCondition(error)) throw error;
  }
}
