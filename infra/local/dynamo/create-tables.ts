import {
  CreateTableCommand,
  DescribeTableCommand,
  ResourceNotFoundException,
  type CreateTableCommandInput,
  type DynamoDBClient,
  type Projection,
  type TableDescription,
} from "@aws-sdk/client-dynamodb";
import type { IndexSchema, TableSchema } from "../../../shared/tables/table-schema.ts";

/** The first one usually suffices; thousands of round trips are seconds. */
const activePollsMax = 5_000;

/** What dynalite needs of a table; it expires nothing. */
export type LocalTable = Omit<TableSchema, "ttlAttribute">;

/** Creates what does not exist yet.
 *  @throws Error where a table of that name has other keys or indexes: its data was written under them. */
export async function createTables(client: DynamoDBClient, tables: readonly LocalTable[]): Promise<void> {
  for (const table of tables) {
    const existing = await describe(client, table.name);
    if (existing) {
      assertSame(table, existing);
    } else {
      await client.send(new CreateTableCommand(toCreateTable(table)));
      await untilActive(client, table.name);
    }
  }
}

/** dynalite makes a table active one write after it has answered, and until then refuses its items. */
async function untilActive(client: DynamoDBClient, name: string): Promise<void> {
  for (let asked = 0; asked < activePollsMax; asked++) {
    if ((await describe(client, name))?.TableStatus === "ACTIVE") return;
  }
  throw new Error(
    `table ${name} was created but is still not active after asking ${activePollsMax} times: start again`,
  );
}

async function describe(client: DynamoDBClient, name: string): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName: name }))).Table;
  } catch (fault) {
    if (fault instanceof ResourceNotFoundException) return undefined;
    throw fault;
  }
}

function toCreateTable({ name, partitionKey, sortKey, indexes }: LocalTable): CreateTableCommandInput {
  const keySchemas = [keySchema(partitionKey, sortKey), ...indexes.map((it) => keySchema(it.partitionKey, it.sortKey))];
  const keys = new Set(keySchemas.flat().map(({ AttributeName }) => AttributeName));
  return {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [...keys].map((key) => ({ AttributeName: key, AttributeType: "S" })),
    KeySchema: keySchema(partitionKey, sortKey),
    // An empty list is refused.
    ...(indexes.length > 0 && {
      GlobalSecondaryIndexes: indexes.map((index) => ({
        IndexName: index.name,
        KeySchema: keySchema(index.partitionKey, index.sortKey),
        Projection: projection(index.projection),
      })),
    }),
  };
}

function keySchema(partitionKey: string, sortKey: string | undefined) {
  return [
    { AttributeName: partitionKey, KeyType: "HASH" as const },
    ...(sortKey === undefined ? [] : [{ AttributeName: sortKey, KeyType: "RANGE" as const }]),
  ];
}

function projection(wanted: IndexSchema["projection"]): Projection {
  return typeof wanted === "string"
    ? { ProjectionType: wanted }
    : { ProjectionType: "INCLUDE", NonKeyAttributes: [...wanted] };
}

function assertSame(table: LocalTable, existing: TableDescription): void {
  const expected = shapeOf(toCreateTable(table));
  const found = shapeOf(existing);
  if (expected === found) return;
  throw new Error(
    `table ${table.name} exists with other keys or indexes. Expected ${expected}, found ${found}: ` +
      `it was made by another version; use that one, or choose another folder`,
  );
}

/** One line that says what may not differ, in an order that does not depend on the database's. */
function shapeOf(table: Pick<TableDescription, "KeySchema" | "GlobalSecondaryIndexes">): string {
  const keysOf = (keys: TableDescription["KeySchema"] = []) => keys.map(({ AttributeName }) => AttributeName).join(",");
  const indexes = (table.GlobalSecondaryIndexes ?? []).map(
    ({ IndexName, KeySchema, Projection: { ProjectionType, NonKeyAttributes = [] } = {} }) =>
      `${IndexName}(${keysOf(KeySchema)}) ${[ProjectionType, ...[...NonKeyAttributes].sort()].join(" ")}`,
  );
  return [`(${keysOf(table.KeySchema)})`, ...indexes.sort()].join("; ");
}
