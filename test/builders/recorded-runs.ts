import { DeleteCommand, type DynamoDBDocumentClient, PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { RecordedRun } from "../../infra/contract/recorded-run.ts";
import { canonicalJson } from "../../shared/index.ts";
import { PayloadRef, type PayloadStore } from "../../shared/payloads/payload-store.ts";

type Item = Readonly<Record<string, unknown>>;

export interface RecordOptions {
  readonly client: DynamoDBDocumentClient;
  readonly payloads: PayloadStore;
  readonly runId: string;
  /** What it is a case of. */
  readonly name: string;
  readonly recordedAt: string;
  readonly outside: Readonly<Record<string, string>>;
}

/** A run as it lies in the tables now: its log, the workflow that points at it, its contract, its operations, and values beside them. */
export async function recordRun(options: RecordOptions): Promise<RecordedRun> {
  const { client, payloads, runId, name, recordedAt, outside } = options;
  const all = await scan(client, "runs");
  const run = all.find((item) => item["run_id"] === runId && item["item"] === "RUN");
  if (!run) throw new Error(`there is no run ${runId}`);
  const partitions = [
    runId,
    `WORKFLOW#${String(run["agent"])}#${String(run["workflow_id"])}`,
    `CONTRACT#${String(run["contract_digest"])}`,
  ];
  const runs = all.filter((item) => partitions.includes(String(item["run_id"])));
  const ledger = (await scan(client, "ledger")).filter((item) => item["run_id"] === runId);
  const refs = [...runs, ...ledger].flatMap(refsIn);
  const beside = await Promise.all(refs.map(async (ref) => [ref.key, await payloads.get(ref)] as const));
  const order = (item: Item) => `${String(item["run_id"])} ${String(item["item"] ?? item["operation_id"])}`;
  const byKey = (a: Item, b: Item) => (order(a) < order(b) ? -1 : 1);
  return RecordedRun.parse(
    JSON.parse(
      canonicalJson({
        format: 1,
        agent: run["agent"],
        workflow_version: run["workflow_version"],
        case: name,
        run_id: runId,
        recorded_at: recordedAt,
        runs: runs.toSorted(byKey),
        ledger: ledger.toSorted(byKey),
        payloads: Object.fromEntries(beside),
        outside,
      }),
    ),
  );
}

/** Puts a recorded run into tables, item for item. What was played on from it before is taken away. */
export async function loadRun(
  record: RecordedRun,
  { client, payloads }: Pick<RecordOptions, "client" | "payloads">,
): Promise<void> {
  const partitions = new Set(record.runs.map((item) => item["run_id"]));
  for (const { run_id, item } of await scan(client, "runs")) {
    if (partitions.has(run_id)) await client.send(new DeleteCommand({ TableName: "runs", Key: { run_id, item } }));
  }
  for (const { run_id, operation_id } of await scan(client, "ledger")) {
    if (run_id === record.run_id) await client.send(new DeleteCommand({ TableName: "ledger", Key: { operation_id } }));
  }
  for (const [TableName, items] of [
    ["runs", record.runs],
    ["ledger", record.ledger],
  ] as const) {
    for (const Item of items) await client.send(new PutCommand({ TableName, Item }));
  }
  for (const [key, text] of Object.entries(record.payloads)) {
    await payloads.put({ key, sha256: key.slice(key.lastIndexOf("/") + 1), bytes: Buffer.byteLength(text) }, text);
  }
}

async function scan(client: DynamoDBDocumentClient, table: string): Promise<readonly Item[]> {
  const items: Item[] = [];
  let from: Record<string, unknown> | undefined;
  do {
    const page = await client.send(new ScanCommand({ TableName: table, ...(from && { ExclusiveStartKey: from }) }));
    items.push(...(page.Items ?? []));
    from = page.LastEvaluatedKey;
  } while (from);
  return items;
}

/** References to values that lie beside the tables, at any depth. */
function refsIn(value: unknown): readonly PayloadRef[] {
  if (typeof value !== "object" || value === null) return [];
  const ref = PayloadRef.safeParse(value);
  return ref.success ? [ref.data] : Object.values(value).flatMap(refsIn);
}
