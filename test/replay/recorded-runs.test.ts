import { afterEach, describe, expect, it } from "vitest";
import { join, relative } from "node:path";
import {
  contractOfRecord,
  readRecordedRuns,
  type RecordedRun,
  footholdOfRecord,
} from "../../infra/contract/recorded-run.ts";
import refundAgent from "../../lambdas/agents/refund-agent/agent.ts";
import { compareAt } from "../../shared/contract/compare-at.ts";
import { manifestDigest } from "../../shared/contract/manifest.ts";
import { manifestOf } from "../../shared/index.ts";
import { loadRun } from "../builders/recorded-runs.ts";
import { localTables } from "../builders/local-tables.ts";
import { type RefundWorld, refundWorld } from "../builders/refund-world.ts";
import { refundCases } from "./refund-cases.ts";

const records = readRecordedRuns(import.meta.dirname, refundAgent.name).map(({ file, run }) => ({
  file: relative(join(import.meta.dirname, refundAgent.name), file).replaceAll("\\", "/"),
  run,
}));

interface Expectation {
  /** Of the contract it was started under, against today's. */
  readonly verdict: string;
  /** Where it comes to by itself once it is resumed. */
  readonly comesTo: { readonly status: string; readonly waiting_for?: string };
  /** Models that are asked on the way there: none whose answer is recorded. */
  readonly asks: readonly string[];
  /** What a person then does, and which models are asked until the end. */
  readonly then?: readonly ("approve" | "deliver")[];
  readonly thenAsks?: readonly string[];
}

/** What becomes of each under today's code. Written by hand, and changed here when a version changes it; the records are not. */
const expected: Readonly<Record<string, Expectation>> = {
  "1/waits-at-approval.json": {
    verdict: "same",
    comesTo: { status: "WAITING", waiting_for: "review" },
    asks: [],
    then: ["approve", "deliver"],
    thenAsks: ["finalize"],
  },
  "1/asked-again-after-a-no.json": {
    verdict: "same",
    comesTo: { status: "WAITING", waiting_for: "review" },
    asks: [],
    then: ["approve", "deliver"],
    thenAsks: ["finalize"],
  },
  "1/parked-after-a-failed-model.json": {
    verdict: "same",
    comesTo: { status: "WAITING", waiting_for: "review" },
    asks: ["draft"],
    then: ["approve", "deliver"],
    thenAsks: ["finalize"],
  },
  "1/died-after-the-refund.json": {
    verdict: "same",
    comesTo: { status: "WAITING", waiting_for: "notify" },
    asks: [],
    then: ["deliver"],
    thenAsks: ["finalize"],
  },
  "1/waits-for-its-mail.json": {
    verdict: "same",
    comesTo: { status: "WAITING", waiting_for: "notify" },
    asks: [],
    then: ["deliver"],
    thenAsks: ["finalize"],
  },
  "1/completed.json": { verdict: "same", comesTo: { status: "SUCCEEDED" }, asks: [] },
};

describe("a recorded run of the shipped agent", () => {
  const tables = localTables();
  let world: RefundWorld | undefined;
  afterEach(() => world?.close());

  /** The tables as they were when the run was recorded, under today's code. */
  async function loaded(record: RecordedRun): Promise<RefundWorld> {
    const own = await refundWorld({
      client: tables.client(),
      nowMs: Date.parse(record.recorded_at),
      outside: record.outside,
    });
    world = own;
    await loadRun(record, { client: tables.client(), payloads: own.payloads });
    return own;
  }
  /** Resumes it in a new execution, and lets leases lapse. */
  async function resumed(record: RecordedRun) {
    const own = await loaded(record);
    own.clock.advance(1_000);
    const answer = await own.resume(record.run_id);
    for (let rounds = 0; answer.resumed && rounds < 3; rounds++) {
      await own.go();
      own.clock.advance(125_000);
    }
    return { world: own, answer };
  }
  const run = async (own: RefundWorld, record: RecordedRun) => (await own.log.readRun(record.run_id))!;

  it("of today's version is there for every case, and none without an expectation", () => {
    const today = refundCases.map(({ name }) => `${refundAgent.version}/${name}.json`);
    const there = records.map(({ file }) => file);
    // A version more: npx tsx test/replay/record.ts
    expect(there).toEqual(expect.arrayContaining(today));
    expect(there.sort()).toEqual(Object.keys(expected).sort());
  });

  it.each(records)("$file says its own contract, and today's agrees with the verdict", ({ file, run: record }) => {
    const contract = contractOfRecord(record);
    const started = record.runs.find((item) => item["item"] === "RUN");
    expect(manifestDigest(contract)).toBe(started?.["contract_digest"]);
    expect(contract.workflow_version).toBe(record.workflow_version);
    expect(compareAt(contract, manifestOf(refundAgent), footholdOfRecord(record)).verdict).toBe(
      expected[file]?.verdict,
    );
  });

  it.each(records)(
    "$file goes on to where it should, and no recorded answer is asked for again",
    async ({ file, run: record }) => {
      const { comesTo, asks, then = [], thenAsks = [] } = expected[file]!;
      const { world: own, answer } = await resumed(record);
      expect(await run(own, record)).toMatchObject(comesTo);
      expect(own.asked).toEqual(asks);
      expect(answer.resumed).toBe(comesTo.status !== "SUCCEEDED");

      for (const act of then) {
        if (act === "approve") await own.decide(record.run_id, "approve");
        else await own.deliver();
        await own.go();
      }
      expect(await run(own, record)).toMatchObject({ status: "SUCCEEDED", outcome: "completed" });
      expect(own.asked).toEqual([...asks, ...thenAsks]);
      // What the other side had of it counts too: once, ever.
      expect([await own.refunds(), await own.mails()]).toEqual([1, 1]);
    },
  );

  it("that has come to its end without saying so ends, and does nothing else", async () => {
    const record = records.find(({ file }) => file === "1/completed.json")!.run;
    const cut = (item: RecordedRun["runs"][number]) =>
      item["item"] === "RUN" ? { ...item, status: "RUNNING", outcome: undefined } : item;
    const { world: own } = await resumed({ ...record, runs: record.runs.map(cut) });
    expect(await run(own, record)).toMatchObject({ status: "SUCCEEDED", outcome: "completed" });
    expect(own.asked).toEqual([]);
    expect([await own.refunds(), await own.mails()]).toEqual([1, 1]);
  });

  it.each<[string, object]>([
    ["name", { node: "planner" }],
    ["node's name", { node: "draft", fingerprint: "1cf7f51ecc8b95c4" }],
    ["kind", { kind: "compute" }],
    ["fingerprint", { fingerprint: "0123456789abcdef" }],
  ])(
    "with a record of another %s is not continued: it is parked with the reason, and nothing runs",
    async (_what, other) => {
      const record = records.find(({ file }) => file === "1/waits-at-approval.json")!.run;
      const changed = (item: RecordedRun["runs"][number]) =>
        item["item"] === "STEP#0000.plan" ? { ...item, ...other } : item;
      const { world: own } = await resumed({ ...record, runs: record.runs.map(changed) });
      expect(await run(own, record)).toMatchObject({
        status: "PARKED",
        failure: { position: "0000.plan", error: { code: "replay_contract", failure_class: "final" } },
      });
      expect(own.metrics.total("workflow_version_mismatch_total")).toBe(1);
      expect(own.asked).toEqual([]);
      expect([await own.refunds(), await own.mails()]).toEqual([0, 0]);
    },
  );

  it("in a checkpoint schema that this code does not know is refused with the version that can read it", async () => {
    const record = records.find(({ file }) => file === "1/waits-at-approval.json")!.run;
    const newer = (item: RecordedRun["runs"][number]) =>
      item["item"] === "RUN" ? { ...item, checkpoint_schema_version: 2, workflow_version: 9 } : item;
    const own = await loaded({ ...record, runs: record.runs.map(newer) });
    await expect(own.resume(record.run_id)).rejects.toThrow(
      /is in checkpoint schema 2, this code reads 1\. Nothing ran: version 9 of refund-agent, which started it, can read it$/,
    );
    expect(own.asked).toEqual([]);
  });
});
