import type { PortCall } from "./port-call.ts";

/** The part of an SDK's command that says what it is about. */
interface Command {
  readonly input: object;
}

/** `PutCommand` → `Put`. */
export const verbOf = (command: Command): string => command.constructor.name.replace(/Command$/u, "");

/** What a DynamoDB command is about: table, key, and the status that an operation is put into. */
export function describeDynamo(command: Command): PortCall {
  const { TableName, IndexName, Key, Item, ExpressionAttributeValues } = command.input as {
    readonly TableName?: string;
    readonly IndexName?: string;
    readonly Key?: Readonly<Record<string, unknown>>;
    readonly Item?: Readonly<Record<string, unknown>>;
    readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>;
  };
  const ids: Record<string, string> = { table: TableName ?? "" };
  if (IndexName !== undefined) ids["index"] = IndexName;
  for (const [name, value] of Object.entries({ ...Item, ...Key })) {
    if (namedIds.has(name) && typeof value === "string") ids[name] = value;
  }
  if (Item === undefined && Key === undefined) {
    for (const [name, value] of Object.entries(ExpressionAttributeValues ?? {}))
      ids[name.replace(":", "")] = String(value);
  }
  const becomes = ExpressionAttributeValues?.[":status"];
  if (Key !== undefined && typeof becomes === "string") ids["status"] = becomes;
  return { port: "dynamo", verb: verbOf(command), ids };
}

const namedIds = new Set(["run_id", "item", "operation_id", "status", "current_run_id"]);

/** What a Step Functions command is about. Task tokens are secrets, even here. */
export function describeSfn(command: Command): PortCall {
  const { name, executionArn, error } = command.input as {
    readonly name?: string;
    readonly executionArn?: string;
    readonly error?: string;
  };
  const execution = name ?? executionArn?.split(":").at(-1);
  return {
    port: "sfn",
    verb: verbOf(command),
    ids: { ...(execution !== undefined && { execution }), ...(error !== undefined && { error }) },
  };
}
