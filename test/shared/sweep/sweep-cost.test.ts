import {
  BatchWriteCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { createSweepHandler } from "../../../lambdas/sweep/sweep-handler.ts";
import { dynamoLedgerStore } from "../../../shared/ledger/dynamo-ledger-store.ts";
import { OperationId } from "../../../shared/operation/operation-id.ts";
import { sweep } from "../../../shared/sweep/sweep.ts";
import type { SweepDeed, SweepPorts, SweepState } from "../../../shared/sweep/sweep-ports.ts";
import { anEntry } from "../../builders/ledger-world.ts";
import { localTables } from "../../builders/local-tables.ts";
import type { ManualClock } from "../../builders/manual-clock.ts";
import { type SweepWorld, sweepWorld } from "../../builders/sweep-world.ts";

const id = (n: number) => OperationId.parse(n.toString(16).padStart(32, "0"));

describe("what a sweep reads", () => {
  const tables = localTables();
  /** The indexes that it reads: three of operations, one of waiters, one of runs. */
  const indexes = 5;
  const shards = 4;
  const pageMax = 25;

  /** One sweep, counted at the database: its requests by kind, and the items that the indexes handed out. */
  async function counted({ ports, clock }: SweepWorld) {
    const from = tables.proxy().requests.length;
    const itemsRead = scannedBy(tables.proxied());
    const report = await sweep({ pageMax, deadlineMs: clock.nowMs() + 60_000 }, ports);
    expect(report).toMatchObject({ errors: 0, finished: true });
    const requests = tables.proxy().requests.slice(from);
    const of = (operation: string) => requests.filter((request) => request.operation === operation).length;
    const others = requests.length - of("Query") - of("GetItem");
    return { looked: report.looked, queries: of("Query"), gets: of("GetItem"), others, items: itemsRead() };
  }

  it("grows with what is open, and not with ten thousand closed operations beside it", async () => {
    const world = await sweepWorld(tables);
    await world.go();
    expect(await world.verdict()).toBe("run SUCCEEDED, 1 effects, operation SUCCEEDED");
    const nothing = { looked: 0, queries: indexes * shards, gets: 0, others: 0, items: 0 };
    expect(await counted(world)).toEqual(nothing);
    await open(20, 0, world.runId);
    const twenty = { looked: 20, queries: indexes * shards, gets: 20, others: 0, items: 20 };
    expect(await counted(world)).toEqual(twenty);

    await fillWithClosed(10_000, 1_000);
    expect(await counted(world)).toEqual(twenty);
    // Four full pages, after each of which its shard is asked once more.
    await open(80, 20, world.runId);
    expect(await counted(world)).toEqual({
      ...twenty,
      looked: 100,
      queries: indexes * shards + 4,
      gets: 100,
      items: 100,
    });
  }, 120_000);

  it("has one reading of an agent's releases in it, however many of its runs are open", async () => {
    const world = await sweepWorld(tables);
    const one = await counted(world);
    await sweepWorld(tables);
    await sweepWorld(tables);
    // Each run is read once; whether its version was retired is known from the first.
    expect(await counted(world)).toEqual({ ...one, looked: one.looked + 2, gets: one.gets + 2, items: one.items + 2 });
    await world.releases.keep({
      agent: "order-agent",
      workflow_version: 1,
      contract_digest: "1".repeat(64),
      state_machine_arn: "arn:aws:states:us-east-1:000000000000:stateMachine:order-agent:1",
      released_at: "2026-09-01T00:00:00.000Z",
    });
    expect(await counted(world)).toMatchObject({ queries: one.queries, items: one.items + 3 });
  });

  /** Straight into the database: as many closed operations, and closed runs, each with an answered wait. */
  async function fillWithClosed(operations: number, runs: number) {
    const put = (table: string, Item: Readonly<Record<string, unknown>>) => ({
      table,
      request: { PutRequest: { Item } },
    });
    const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
    const puts = [
      ...numbers(operations).map((n) =>
        put("ledger", { operation_id: id(n), run_id: `closed-${n}`, created_at: "2026-09-02", status: "SUCCEEDED" }),
      ),
      ...numbers(runs).flatMap((n) => [
        put("runs", { run_id: `closed-${n}`, item: "RUN", status: "SUCCEEDED", agent_runs: "order-agent" }),
        put("runs", { run_id: `closed-${n}`, item: "WAIT#0000.place", status: "ANSWERED" }),
      ]),
    ];
    // DynamoDB takes 25 at once.
    while (puts.length > 0) {
      const RequestItems: Record<string, (typeof puts)[number]["request"][]> = {};
      for (const { table, request } of puts.splice(0, 25)) (RequestItems[table] ??= []).push(request);
      await tables.client().send(new BatchWriteCommand({ RequestItems }));
    }
  }

  /** Lapsed by nothing: UNKNOWN at a side that can tell nothing, which a sweep reads and leaves to a person. */
  async function open(count: number, from: number, runId: string) {
    const store = dynamoLedgerStore(tables.client(), "ledger");
    for (let n = from; n < from + count; n++) {
      await store.create(anEntry("UNKNOWN", { operation_id: id(100_000 + n), run_id: runId, capability: "none" }));
    }
  }
});

/** Counts the items that a client's queries read, returned or not, from now on. */
function scannedBy(client: DynamoDBDocumentClient): () => number {
  let scanned = 0;
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      scanned += (result.output as { readonly ScannedCount?: number }).ScannedCount ?? 0;
      return result;
    },
    { step: "initialize", name: "count-scanned", override: true },
  );
  return () => scanned;
}

describe("a sweep", () => {
  const tables = localTables();

  /** Seven open items in different shards, and what a sweep did with each. */
  async function sevenOpen(look: (id: string, clock: ManualClock) => Promise<void>) {
    const world = await sweepWorld(tables, { side: "none" });
    const store = dynamoLedgerStore(tables.client(), "ledger");
    const clock = world.clock;
    const ids = Array.from({ length: 7 }, (_, n) => id(n + 1));
    for (const [n, operation_id] of ids.entries()) {
      const updated_at = `2026-09-02T12:00:0${n}.000Z`;
      const entry = anEntry("UNKNOWN", { operation_id, capability: "query", function_arn: "arn", updated_at });
      await store.create(entry);
    }
    const seen: string[] = [];
    let state: SweepState = { cursors: {}, finishedAtMs: undefined };
    const ports: SweepPorts = {
      ...world.ports,
      functions: {
        ...world.ports.functions,
        reconcile: async (_arn, operationId) => {
          seen.push(operationId);
          await look(operationId, clock);
        },
      },
      sweepState: {
        read: async () => state,
        write: async (next) => {
          state = next;
        },
      },
    };
    const done = async () => {
      for (const operation_id of ids)
        await tables.client().send(new DeleteCommand({ TableName: "ledger", Key: { operation_id } }));
    };
    return { world, ids, seen, ports, clock, done, state: () => state };
  }

  it("with pages of two visits each of seven open items in different shards exactly once", async () => {
    const { seen, ids, ports, clock, done } = await sevenOpen(async () => undefined);
    const report = await sweep({ pageMax: 2, deadlineMs: clock.nowMs() + 60_000 }, ports);
    expect(report).toMatchObject({ errors: 0, finished: true });
    expect([...seen].sort()).toEqual([...ids].sort());
    await done();
  });

  it("that runs out of time is gone on with where it stopped, inside a page too, and comes to its end", async () => {
    const { seen, ids, ports, clock, done, state } = await sevenOpen(async (_id, time) => time.advance(10_000));
    const finished: boolean[] = [];
    // Time for three looks each; a page holds five.
    for (let n = 0; n < 3; n++) {
      const report = await sweep({ pageMax: 5, deadlineMs: clock.nowMs() + 25_000 }, ports);
      finished.push(report.finished);
    }
    expect(finished).toEqual([false, false, true]);
    expect([...seen].sort()).toEqual([...ids].sort());
    expect(state()).toEqual({ cursors: {}, finishedAtMs: clock.nowMs() });
    await done();
  });

  it("whose first index alone takes all its time still comes to the others", async () => {
    const { world, ports, clock, done } = await sevenOpen(async (_id, time) => time.advance(10_000));
    const runs: string[] = [];
    const log = {
      ...ports.log,
      readRun: async (runId: string) => {
        runs.push(runId);
        return ports.log.readRun(runId);
      },
    };
    for (let n = 0; n < 4; n++) await sweep({ pageMax: 2, deadlineMs: clock.nowMs() + 25_000 }, { ...ports, log });
    expect(runs).toContain(world.runId);
    await done();
  });

  it("goes on when one item cannot be looked into, and says so without its content", async () => {
    const { seen, ids, ports, clock, world, done } = await sevenOpen(async (operationId) => {
      if (operationId === id(3)) throw new TypeError("secret of customer 17");
    });
    const report = await sweep({ pageMax: 2, deadlineMs: clock.nowMs() + 60_000 }, ports);
    expect(report).toMatchObject({ errors: 1, finished: true });
    expect([...seen].sort()).toEqual([...ids].sort());
    expect(world.logger.lines.filter(({ level }) => level === "error")).toEqual([
      {
        level: "error",
        message: "sweep could not look into it",
        fields: { section: "UNKNOWN", code: "TypeError" },
      },
    ]);
    await done();
  });

  it("goes on when one record cannot be read at all", async () => {
    const { seen, ids, ports, clock, world, done } = await sevenOpen(async () => undefined);
    await tables.client().send(
      new UpdateCommand({
        TableName: "ledger",
        Key: { operation_id: id(2) },
        UpdateExpression: "REMOVE request_hash",
      }),
    );
    const Key = { run_id: world.runId, item: "RUN" };
    const spoiled = { UpdateExpression: "REMOVE #agent", ExpressionAttributeNames: { "#agent": "agent" } };
    await tables.client().send(new UpdateCommand({ TableName: "runs", Key, ...spoiled }));
    const report = await sweep({ pageMax: 2, deadlineMs: clock.nowMs() + 60_000 }, ports);
    expect(report).toMatchObject({ errors: 2, finished: true });
    expect([...seen].sort()).toEqual(ids.filter((each) => each !== id(2)).sort());
    await tables.client().send(new DeleteCommand({ TableName: "runs", Key }));
    await done();
  });

  it("begins anew where a stored cursor is of another version, and reads the other indexes meanwhile", async () => {
    const { seen, ids, ports, clock, done } = await sevenOpen(async () => undefined);
    await ports.sweepState.write({ cursors: { UNKNOWN: "version 0" }, finishedAtMs: 1 });
    const budget = () => ({ pageMax: 25, deadlineMs: clock.nowMs() + 60_000 });
    expect(await sweep(budget(), ports)).toMatchObject({ errors: 1, finished: false });
    expect(seen).toEqual([]);
    expect(await sweep(budget(), ports)).toMatchObject({ errors: 0, finished: true });
    expect([...seen].sort()).toEqual([...ids].sort());
    await done();
  });

  it("keeps its place in the runs table, and starts anew from one that it cannot read", async () => {
    const { dynamoState } = await sweepWorld(tables);
    expect(await dynamoState.read()).toEqual({ cursors: {}, finishedAtMs: undefined });
    await dynamoState.write({ cursors: { runs: "here" }, finishedAtMs: 1_788_350_400_000 });
    expect(await dynamoState.read()).toEqual({ cursors: { runs: "here" }, finishedAtMs: 1_788_350_400_000 });
    const Item = { run_id: "SWEEP:", item: "STATE", cursors: "of another version" };
    await tables.client().send(new PutCommand({ TableName: "runs", Item }));
    expect(await dynamoState.read()).toEqual({ cursors: {}, finishedAtMs: undefined });
  });

  it("tells how long ago the last one came to its end, and keeps back time to write where it stopped", async () => {
    const { ports, clock, world, done } = await sevenOpen(async (_id, time) => time.advance(40_000));
    const handler = createSweepHandler(ports);
    const deeds: Partial<Record<SweepDeed, number>>[] = [];
    for (const remainingMs of [600_000, 60_000]) {
      const report = await handler({}, { getRemainingTimeInMillis: () => remainingMs });
      deeds.push(report.deeds);
      clock.advance(60_000);
    }
    // The second has 60 s, of which 30 s are kept back: one look of 40 s.
    expect(deeds[1]).toEqual({ nothing: 1 });
    expect(world.metrics.added.filter(({ name }) => name === "sweep_age_seconds")).toEqual([
      { name: "sweep_age_seconds", dimensions: {}, value: 60 },
    ]);
    await done();
  });
});
