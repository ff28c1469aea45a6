import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DescribeTableCommand, DynamoDBClient, PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
import { expect, it, onTestFinished } from "vitest";
import type { LocalTable } from "../../../../infra/local/dynamo/create-tables.ts";
import { startLocalDynamo, type LocalDynamoOptions } from "../../../../infra/local/dynamo/local-dynamo.ts";

const runs: LocalTable = {
  name: "runs",
  partitionKey: "run_id",
  sortKey: "item",
  indexes: [
    { name: "by_workflow", partitionKey: "workflow_id", sortKey: "created_at", projection: ["status"] },
    { name: "open", partitionKey: "open_shard", projection: "KEYS_ONLY" },
    { name: "everything", partitionKey: "agent", projection: "ALL" },
  ],
};

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "surefoot-dynamo-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }));
  return path;
}

async function started(options: LocalDynamoOptions) {
  const dynamo = await startLocalDynamo({ tables: [runs], ...options });
  onTestFinished(dynamo.stop);
  const client = new DynamoDBClient({
    endpoint: dynamo.endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    maxAttempts: 1, // a retry would hide what was not acknowledged
  });
  onTestFinished(() => client.destroy());
  return { dynamo, client };
}

const item = (run: string, n: number) => ({ run_id: { S: run }, item: { S: `STEP#${n}` }, n: { N: String(n) } });
const put = (client: DynamoDBClient, run: string, n: number) =>
  client.send(
    new PutItemCommand({ TableName: "runs", Item: item(run, n), ConditionExpression: "attribute_not_exists(run_id)" }),
  );

async function stepsOf(client: DynamoDBClient, run: string): Promise<Set<number>> {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: "runs",
      KeyConditionExpression: "run_id = :r",
      ExpressionAttributeValues: { ":r": { S: run } },
      ConsistentRead: true,
    }),
  );
  return new Set(Items.map(({ n }) => Number(n?.N)));
}

it("has its tables ready for items when it has started, each time", async () => {
  for (let round = 0; round < 5; round++) {
    const { client } = await started({ path: folder() });
    await put(client, "r1", 1);
  }
});

it("creates the tables with their keys and indexes", async () => {
  const { client } = await started({ path: folder() });
  const { Table } = await client.send(new DescribeTableCommand({ TableName: "runs" }));
  expect(Table).toMatchObject({ TableStatus: "ACTIVE" });
  expect(Table?.KeySchema).toEqual([
    { AttributeName: "run_id", KeyType: "HASH" },
    { AttributeName: "item", KeyType: "RANGE" },
  ]);
  const projections = Table?.GlobalSecondaryIndexes?.map(({ IndexName, Projection }) => [IndexName, Projection]);
  expect(Object.fromEntries(projections ?? [])).toEqual({
    by_workflow: { ProjectionType: "INCLUDE", NonKeyAttributes: ["status"] },
    open: { ProjectionType: "KEYS_ONLY" },
    everything: { ProjectionType: "ALL" },
  });
});

it("finds an item by a sparse index, with what the index carries", async () => {
  const { client } = await started({ path: folder() });
  const workflow = { workflow_id: { S: "ticket-1" }, created_at: { S: "2026-09-02" }, status: { S: "OPEN" } };
  await client.send(new PutItemCommand({ TableName: "runs", Item: { ...item("r1", 1), ...workflow } }));
  await put(client, "r2", 1);
  const { Items } = await client.send(
    new QueryCommand({
      TableName: "runs",
      IndexName: "by_workflow",
      KeyConditionExpression: "workflow_id = :w",
      ExpressionAttributeValues: { ":w": { S: "ticket-1" } },
    }),
  );
  expect(Items).toEqual([{ run_id: { S: "r1" }, item: { S: "STEP#1" }, ...workflow }]);
});

it("keeps every acknowledged write through kill -9 of the database, and takes its tables as they are", async () => {
  const path = folder();
  const { dynamo, client } = await started({ path });
  const acknowledged: number[] = [];
  let next = 0;
  const writer = async () => {
    for (;;) {
      const n = next++;
      await put(client, "r1", n);
      acknowledged.push(n);
      if (acknowledged.length === 300) process.kill(dynamo.pid, "SIGKILL");
    }
  };
  await Promise.allSettled(Array.from({ length: 8 }, writer)); // each ends with its first refused write
  expect(acknowledged.length).toBeGreaterThanOrEqual(300);

  const again = await started({ path });
  const stored = await stepsOf(again.client, "r1");
  expect(acknowledged.filter((n) => !stored.has(n))).toEqual([]);
  await expect(put(again.client, "r1", acknowledged[0] ?? 0)).rejects.toThrow("conditional request failed");
});

it("refuses a second runner on the same folder and says what to do", async () => {
  const path = folder();
  const { client } = await started({ path });
  await expect(startLocalDynamo({ path })).rejects.toThrow(
    `${path} is in use by another runner, and one folder has one runner: stop that one, or choose another folder`,
  );
  await put(client, "r1", 1); // the first one is none the worse
});

it("gives the folder to the next runner after the one before was killed", async () => {
  const path = folder();
  const program = join(import.meta.dirname, "doomed-runner.ts");
  const doomed = spawn(process.execPath, ["--import", "tsx", program, path], { stdio: ["ignore", "pipe", "inherit"] });
  await once(doomed.stdout, "data");
  doomed.kill("SIGKILL");
  await once(doomed, "exit");
  const { client } = await started({ path });
  await put(client, "r1", 1);
});

it("survives a client that is killed in the middle of a request", async () => {
  const crashes: string[] = [];
  const { dynamo, client } = await started({ path: folder(), onCrash: (why) => crashes.push(why) });
  const half = connect(dynamo.port, "127.0.0.1");
  half.on("error", () => undefined);
  await once(half, "connect");
  const head =
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 1000\r\n\r\n{";
  await new Promise((sent) => half.write(head, sent));
  await put(client, "r1", 1); // by now the half request has been read
  half.resetAndDestroy();
  await once(half, "close");
  await put(client, "r1", 2);
  await put(client, "r1", 3);
  expect(crashes).toEqual([]);
});

it("tells when the database ends although nobody stopped it, and not when it is stopped", async () => {
  const path = folder();
  const crash = await new Promise<string>((resolve) => {
    void startLocalDynamo({ path, onCrash: resolve }).then(({ pid }) => process.kill(pid, "SIGKILL"));
  });
  expect(crash).toMatch(/was ended by SIGKILL/);

  const crashes: string[] = [];
  const second = await startLocalDynamo({ path, onCrash: (why) => crashes.push(why) });
  await second.stop();
  await second.stop();
  expect(crashes).toEqual([]);
});

it("refuses a table that was made with other indexes, naming both", async () => {
  const path = folder();
  const { dynamo } = await started({ path });
  await dynamo.stop();
  const fewer = { ...runs, indexes: runs.indexes.slice(1) };
  await expect(startLocalDynamo({ path, tables: [fewer] })).rejects.toThrow(
    /table runs exists with other keys or indexes\. Expected \(run_id,item\); everything\(agent\) ALL; open.*found .*by_workflow\(workflow_id,created_at\) INCLUDE status/,
  );
});

it("says so when the database is damaged, and touches nothing", async () => {
  const path = folder();
  const { dynamo } = await started({ path });
  await dynamo.stop();
  writeFileSync(join(path, "CURRENT"), "no such manifest");
  await expect(startLocalDynamo({ path })).rejects.toThrow(/expected a readable database in .*Move the folder away/);
});

it("takes the port it is given, and says so when that is taken", async () => {
  const { dynamo } = await started({ path: folder() });
  const { port } = dynamo;
  await expect(startLocalDynamo({ path: folder(), port })).rejects.toThrow("EADDRINUSE");
  await dynamo.stop();
  const { dynamo: second } = await started({ path: folder(), port });
  expect(second.endpoint).toBe(`http://127.0.0.1:${port}`);
});

it("makes a table anew whose making was cut short, and leaves the others alone", async () => {
  const path = folder();
  const { dynamo, client } = await started({ path, tables: [runs, { ...runs, name: "ledger" }] });
  await put(client, "r1", 1);
  await dynamo.stop();
  await changeTable(path, "ledger", { TableStatus: "CREATING" });

  const again = await started({ path, tables: [runs, { ...runs, name: "ledger" }] });
  const { Table } = await again.client.send(new DescribeTableCommand({ TableName: "ledger" }));
  expect(Table?.TableStatus).toBe("ACTIVE");
  expect(await stepsOf(again.client, "r1")).toEqual(new Set([1]));
});

it("has its indexes say what the items say, after a kill between the two: nothing that never was, nothing missing, nothing outdated", async () => {
  const path = folder();
  const { dynamo, client } = await started({ path });
  const open = (run: string, at: string, status: string) => ({
    ...item(run, 1),
    workflow_id: { S: "ticket-1" },
    created_at: { S: at },
    status: { S: status },
    open_shard: { S: "RUNNING#0" },
  });
  for (const [run, at] of [
    ["r1", "2026-09-02T12:00"],
    ["r2", "2026-09-02T13:00"],
    ["r3", "2026-09-02T14:00"],
  ] as const)
    await client.send(new PutItemCommand({ TableName: "runs", Item: open(run, at, "OPEN") }));
  await dynamo.stop();

  await changeDatabase(path, async (database) => {
    const under = (index: string) => ({ gte: `index-global~runs~${index}~`, lt: `index-global~runs~${index}~\xff` });
    const entryOf = async (run: string, index: string) => {
      for await (const [key, entry] of database.iterator(under(index)))
        if (JSON.stringify(entry).includes(run)) return { key, entry };
      throw new Error(`${run} is not in ${index}`);
    };
    const never = await entryOf("r1", "by_workflow");
    await database.put(`${never.key.slice(0, -1)}x`, { ...never.entry, created_at: { S: "2026-09-02T15:00" } });
    await database.del((await entryOf("r2", "open")).key);
    const outdated = await entryOf("r3", "by_workflow");
    await database.put(outdated.key, { ...outdated.entry, status: { S: "DONE" } });
  });

  const again = await started({ path });
  const query = async (index: string, key: string, value: string) => {
    const { Items = [] } = await again.client.send(
      new QueryCommand({
        TableName: "runs",
        IndexName: index,
        KeyConditionExpression: "#k = :v",
        ExpressionAttributeNames: { "#k": key },
        ExpressionAttributeValues: { ":v": { S: value } },
      }),
    );
    return Items.map(({ run_id, created_at, status }) => [run_id?.S, created_at?.S, status?.S]);
  };
  expect(await query("by_workflow", "workflow_id", "ticket-1")).toEqual([
    ["r1", "2026-09-02T12:00", "OPEN"],
    ["r2", "2026-09-02T13:00", "OPEN"],
    ["r3", "2026-09-02T14:00", "OPEN"],
  ]);
  expect((await query("open", "open_shard", "RUNNING#0")).map(([run]) => run).sort()).toEqual(["r1", "r2", "r3"]);
});

interface Database {
  get(key: string): Promise<object>;
  put(key: string, value: object): Promise<void>;
  del(key: string): Promise<void>;
  iterator(range: { gte: string; lt: string }): AsyncIterable<[key: string, value: object]>;
  close(): Promise<void>;
}

/** Puts a stopped database into a state that only a kill at the right instant would leave, through dynalite's own LevelDB binding. */
async function changeDatabase(path: string, change: (database: Database) => Promise<void>): Promise<void> {
  const { Level } = createRequire(createRequire(import.meta.url).resolve("dynalite"))("level") as {
    Level: new (path: string, options: { valueEncoding: "json" }) => Database;
  };
  const database = new Level(path, { valueEncoding: "json" });
  await change(database);
  await database.close();
}

const changeTable = (path: string, name: string, change: object): Promise<void> =>
  changeDatabase(path, async (database) =>
    database.put(`table~${name}`, { ...(await database.get(`table~${name}`)), ...change }),
  );
