import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { keepContract, readContract } from "../../../shared/contract/kept-contract.ts";
import { contractDigest, manifestOf } from "../../../shared/contract/manifest.ts";
import { defineAgent } from "../../../shared/index.ts";
import { startRun } from "../../../shared/run/start-run.ts";
import { dynamoRunLog } from "../../../shared/runlog/dynamo-run-log.ts";
import type { DynamoRequest } from "../../builders/dynamo-proxy.ts";
import { localTables } from "../../builders/local-tables.ts";
import { faultOf } from "../../builders/operation-world.ts";
import { runWorld } from "../../builders/run-world.ts";
import { paymentAgent } from "./payment-agent.ts";

const arn = "arn:aws:states:us-east-1:000000000000:stateMachine:order-agent";
const ofContract = ({ item }: DynamoRequest) => String(item["run_id"]).startsWith("CONTRACT#");

describe("the contract of a run", () => {
  const tables = localTables();

  it("is kept before the run is written, and every run finds its own", async () => {
    const world = await runWorld(tables);
    const keys = world.proxy.requests.map(({ item }) => String(item["run_id"]));
    const kept = keys.findIndex((key) => key === `CONTRACT#${world.run.contract_digest}`);
    expect(kept).toBeGreaterThanOrEqual(0);
    expect(kept).toBeLessThan(keys.indexOf(world.runId));
    expect(await readContract(world.run.contract_digest, world.ports)).toEqual(manifestOf(world.agent));
    expect(world.run.contract_digest).toBe(contractDigest(world.agent));
  });

  it("is written once, however many runs, processes and starts at the same time there are", async () => {
    const world = await runWorld(tables);
    const agent = defineAgent("once-agent", { version: 1, input: z.unknown() })
      .compute("nothing", { output: z.null(), run: () => null })
      .end();
    const from = world.proxy.requests.length;
    const process = () => ({
      ...world.ports,
      log: dynamoRunLog({ client: tables.proxied(), table: "runs", clock: world.clock, ids: world.ids }),
    });
    const start = (workflowId: string, ports = process()) =>
      startRun(agent, arn, { workflowId, input: {}, allowNewRun: false }, ports);
    const one = process();
    await Promise.all([start("a"), start("b"), start("c", one)]);
    await start("d", one);
    await start("e");

    const about = world.proxy.requests.slice(from).filter(ofContract);
    const stored = await world.log.readContract(contractDigest(agent));
    expect(stored).toBeDefined();
    // Three at once each look and may each try to write; the condition lets one. Afterwards a process looks once.
    expect(about.filter(({ operation }) => operation === "PutItem").length).toBeLessThanOrEqual(3);
    const later = world.proxy.requests.length;
    await start("f", one);
    await start("g", one);
    expect(world.proxy.requests.slice(later).filter(ofContract)).toEqual([]);
  });

  it("stays as it was first kept", async () => {
    const world = await runWorld(tables);
    const digest = await keepContract(paymentAgent(), world.ports);
    const again = dynamoRunLog({ client: tables.client(), table: "runs", clock: world.clock, ids: world.ids });
    await again.keepContract(digest, async () => ({ json: "{}" }));
    expect(await readContract(digest, world.ports)).toEqual(manifestOf(paymentAgent()));
  });

  it("may be as large as its schemas are", async () => {
    const world = await runWorld(tables);
    const fields = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`field_${n}`, z.string().max(n + 1)]));
    const agent = defineAgent("large-agent", { version: 1, input: z.object(fields) })
      .compute("nothing", { output: z.null(), run: () => null })
      .end();
    const digest = await keepContract(agent, world.ports);
    expect(await world.log.readContract(digest)).toMatchObject({ ref: { key: expect.stringMatching(/^contracts\//) } });
    expect(await readContract(digest, world.ports)).toEqual(manifestOf(agent));
  });

  it("that was never kept is not found, and one with another content is refused", async () => {
    const world = await runWorld(tables);
    expect(await readContract("0".repeat(64), world.ports)).toBeUndefined();
    const digest = world.run.contract_digest;
    const other = JSON.stringify({ ...manifestOf(world.agent), workflow_version: 2 });
    await tables.client().send(
      new UpdateCommand({
        TableName: "runs",
        Key: { run_id: `CONTRACT#${digest}`, item: "CONTRACT" },
        UpdateExpression: "SET contract = :other",
        ExpressionAttributeValues: { ":other": { json: other } },
      }),
    );
    expect(await faultOf(readContract(digest, world.ports))).toMatchObject({
      name: "RecordCorrupt",
      message: expect.stringContaining("does not match its digest"),
    });
  });
});
