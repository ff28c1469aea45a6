import { Aws, RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from "aws-cdk-lib/aws-dynamodb";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import type { IndexSchema, TableSchema } from "../shared/tables/table-schema.ts";
import type { PlatformFunction } from "./platform-function.ts";

export interface StoreTableProps {
  readonly schema: TableSchema;
  readonly key: IKey;
  /** Name under which a bound function finds the table. */
  readonly environmentName: string;
  /** Whether deleting the table takes a second decision. */
  readonly deletionProtection: boolean;
}

/** What a function may do with a table. Without `actions` it knows the name and may do nothing. */
export interface TableAccess {
  readonly actions: readonly ("GetItem" | "Query" | "PutItem" | "UpdateItem")[];
  /** Which of its indexes it also queries, or all of them. @default none */
  readonly indexes?: readonly string[] | "all";
}

/** Decrypting a table's key is what reading takes (what CDK's `grantReadData` gives). */
const keyActionsToRead = ["kms:Decrypt", "kms:DescribeKey"] as const;
/** What DynamoDB names as the least for writing under a customer managed key, its wildcards written out. */
const keyActionsToWrite = [
  ...keyActionsToRead,
  "kms:Encrypt",
  "kms:GenerateDataKey",
  "kms:GenerateDataKeyWithoutPlaintext",
  "kms:ReEncryptFrom",
  "kms:ReEncryptTo",
] as const;

/** A DynamoDB table made from the schema that the local runner uses too. It outlives its stack. */
export class StoreTable extends Construct {
  readonly table: Table;
  readonly #props: StoreTableProps;

  constructor(scope: Construct, id: string, props: StoreTableProps) {
    super(scope, id);
    this.#props = props;
    const { schema, key, deletionProtection } = props;
    this.table = new Table(this, "Table", {
      ...keysOf(schema),
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: schema.ttlAttribute,
      deletionProtection,
      encryption: TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: key,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      removalPolicy: RemovalPolicy.RETAIN,
    });
    for (const index of schema.indexes) {
      this.table.addGlobalSecondaryIndex({
        indexName: index.name,
        ...keysOf(index),
        ...projectionOf(index, schema),
      });
    }
  }

  /** Permission and name in one step, so that the two cannot drift. */
  bindTo(fn: PlatformFunction, { actions, indexes = [] }: TableAccess = { actions: [] }): void {
    const { key, schema, environmentName } = this.#props;
    fn.setEnvironment(environmentName, this.table.tableName);
    if (actions.length === 0) return;
    fn.allow({ actions: actions.map((action) => `dynamodb:${action}` as const), resources: [this.table.tableArn] });
    const queried = schema.indexes.filter(({ name }) => indexes === "all" || indexes.includes(name));
    if (queried.length > 0) {
      fn.allow({
        actions: ["dynamodb:Query"],
        resources: queried.map(({ name }) => `${this.table.tableArn}/index/${name}`),
      });
    }
    const writes = actions.includes("PutItem") || actions.includes("UpdateItem");
    fn.allow({
      actions: writes ? keyActionsToWrite : keyActionsToRead,
      resources: [key.keyArn],
      conditions: { StringEquals: { "kms:ViaService": `dynamodb.${Aws.REGION}.${Aws.URL_SUFFIX}` } },
    });
  }
}

function keysOf({ partitionKey, sortKey }: Pick<TableSchema, "partitionKey" | "sortKey">) {
  return {
    partitionKey: { name: partitionKey, type: AttributeType.STRING },
    ...(sortKey !== undefined && { sortKey: { name: sortKey, type: AttributeType.STRING } }),
  };
}

/** Keys are always in an index, and DynamoDB takes at most 20 others. */
function projectionOf({ projection, ...index }: IndexSchema, table: TableSchema) {
  if (typeof projection === "string") return { projectionType: ProjectionType[projection] };
  const keys = [table.partitionKey, table.sortKey, index.partitionKey, index.sortKey];
  return {
    projectionType: ProjectionType.INCLUDE,
    nonKeyAttributes: projection.filter((attribute) => !keys.includes(attribute)),
  };
}
