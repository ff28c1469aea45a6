import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { effectsFileName } from "./agents/large-results.ts";
import { senderPid, slowMs, type Stage, startStage } from "./stage.ts";

vi.setConfig({ testTimeout: slowMs, hookTimeout: slowMs });

const agent = "large-results";
const kilobyte = 1024;
/** DynamoDB's limit on an item, names included. */
const itemBytesMax = 400 * kilobyte;

let stage: Stage;
const effectsFolder = mkdtempSync(join(tmpdir(), "surefoot-effects-"));
const effectsFile = join(effectsFolder, "effects");
beforeAll(async () => {
  stage = await startStage({ agents: [agent], environment: { [effectsFileName]: effectsFile } });
});
afterAll(async () => {
  await stage?.stop();
  rmSync(effectsFolder, { recursive: true, force: true });
});

/** Four bytes, and two of JavaScript's characters: counting characters instead of bytes shows. */
const letters = { ASCII: "a", "multi-byte": "😀" } as const;
const sizes = { "399 KB": 399 * kilobyte, "401 KB": 401 * kilobyte, "1 MB": 1024 * kilobyte, "6 MB": 6144 * kilobyte };
const cases = Object.entries(letters).flatMap(([kind, letter]) =>
  Object.entries(sizes).map(([size, bytes]) => [`${size} of ${kind} text`, letter, bytes] as const),
);

test.for(cases)(
  "%s go through a read, a request and a result, also when they have to be read back",
  async ([title, letter, bytes]) => {
    const name = title.replaceAll(/\W/gu, "-");
    // After the write the process dies, so that the next one knows the texts from the log only.
    const struck = stage.proxy.on(
      ({ item, sender }) => item["node"] === "file" && item["outcome"] === "done" && sender !== undefined,
      { after: (request) => void process.kill(senderPid(request), "SIGKILL"), answer: "never" },
    );
    const run = await stage.ended(await stage.start(agent, name, { name, letter, bytes }));
    expect(struck()).toBe(1);
    expect(run.status).toBe("SUCCEEDED");
    expect(run.steps.map(({ node, output }) => [node, output])).toEqual([
      ["fetch", { large: expect.objectContaining({ bytes: expect.toSatisfy((found: number) => found > bytes) }) }],
      [
        "file",
        { large: expect.objectContaining({ bytes: expect.toSatisfy((found: number) => found > 1024 * kilobyte) }) },
      ],
      ["measure", { fetched: bytes, filed: 1024 * kilobyte }],
    ]);
    expect(run.operations).toMatchObject([{ action_name: "file_text", status: "SUCCEEDED", attempt: 1 }]);
    const effects = readFileSync(effectsFile, "utf8")
      .split("\n")
      .filter((line) => line.startsWith(`${name} `));
    expect(effects).toEqual([`${name} ${bytes}`]);
  },
);

test("no item comes near DynamoDB's limit", async () => {
  const client = new DynamoDBClient({
    endpoint: stage.runner.dynamoEndpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  const scans = await Promise.all(["runs", "ledger"].map((TableName) => client.send(new ScanCommand({ TableName }))));
  client.destroy();
  // JSON with type names is larger than what DynamoDB counts.
  const bytes = scans.flatMap(({ Items = [] }) => Items.map((item) => Buffer.byteLength(JSON.stringify(item))));
  expect(scans.map(({ LastEvaluatedKey }) => LastEvaluatedKey)).toEqual([undefined, undefined]);
  expect(bytes.length).toBeGreaterThan(cases.length * 5);
  expect(Math.max(...bytes)).toBeLessThan(itemBytesMax / 2);
});
