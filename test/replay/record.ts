// npx tsx test/replay/record.ts
// Records the cases of the shipped agent's version that are not recorded yet. A record is never written over: what it holds is how runs of
// that version lie in people's tables.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startLocalDynamo } from "../../infra/local/dynamo/local-dynamo.ts";
import { createDocumentClient } from "../../shared/dynamo/dynamo-client.ts";
import { ledgerTable, runsTable } from "../../shared/index.ts";
import { recordRun } from "../builders/recorded-runs.ts";
import { refundWorld } from "../builders/refund-world.ts";
import { refundCases } from "./refund-cases.ts";

const folder = mkdtempSync(join(tmpdir(), "surefoot-record-"));
const dynamo = await startLocalDynamo({ path: join(folder, "dynamo"), tables: [runsTable, ledgerTable] });
const client = createDocumentClient({
  endpoint: dynamo.endpoint,
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
});
try {
  for (const { name, play } of refundCases) {
    const world = await refundWorld({ client });
    try {
      const file = join(import.meta.dirname, world.agent.name, String(world.agent.version), `${name}.json`);
      if (existsSync(file)) {
        console.log(`kept ${file}`);
        continue;
      }
      const runId = await play(world, `RECORDED-${name}`);
      const recordedAt = new Date(world.clock.nowMs()).toISOString();
      const options = { client, payloads: world.payloads, runId, name, recordedAt, outside: world.outside() };
      const record = await recordRun(options);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`, { flag: "wx" });
      const run = record.runs.find((item) => item["item"] === "RUN");
      console.log(`wrote ${file}: ${String(run?.["status"])}`);
    } finally {
      await world.close();
    }
  }
} finally {
  client.destroy();
  await dynamo.stop();
  rmSync(folder, { recursive: true, force: true });
}
