import { describe, expect, it } from "vitest";
import type { PayloadStore } from "../../../shared/payloads/payload-store.ts";
import { foldState } from "../../../shared/run/fold-state.ts";
import { positionAt } from "../../../shared/runlog/position.ts";
import { RunId, type RunRecord } from "../../../shared/runlog/run-record.ts";
import type { Step } from "../../../shared/runlog/step.ts";

const noPayloads: PayloadStore = {
  put: () => Promise.reject(new Error("nothing is stored here")),
  get: () => Promise.reject(new Error("an older payload was read")),
};
const run: RunRecord = {
  run_id: RunId.parse("run-1"),
  agent: "order-agent",
  workflow_id: "ticket",
  workflow_version: 1,
  contract_digest: "d",
  checkpoint_schema_version: 1,
  status: "RUNNING",
  input: { json: '{"order":"ORD-1"}' },
  input_digest: "d",
  entry: "plan",
  state_machine_arn: "arn",
  execution: "run-1-1",
  execution_attempt: 1,
  created_at: "2026-09-02T12:00:00.000Z",
  updated_at: "2026-09-02T12:00:00.000Z",
  write_id: "w",
};
const step = (ordinal: number, node: string, output: unknown, over: Partial<Step> = {}): Step => ({
  run_id: "run-1",
  position: positionAt(ordinal, node),
  node,
  kind: node === "review" || node === "check" ? "approval" : "model",
  fingerprint: "f",
  outcome: "done",
  output: { json: JSON.stringify(output) },
  next: "end",
  workflow_version: 1,
  created_at: "2026-09-02T12:00:00.000Z",
  write_id: `w${ordinal}`,
  ...over,
});
const at = "2026-09-02T12:00:00.000Z";
const rejected = { outcome: "rejected", comment: "no", by: "kim", at };
const approved = { outcome: "approved", at };
const sentBack = (ordinal: number) =>
  step(ordinal, "place", { node: "place", reason: "digest_changed" }, { outcome: "sent_back" });

describe("the state of a run", () => {
  it("is its input and the latest output of each node", async () => {
    const steps = [step(0, "plan", { n: 1 }), step(1, "stock", { n: 2 }), step(2, "plan", { n: 3 })];
    expect((await foldState(run, steps, noPayloads)).state).toEqual({
      input: { order: "ORD-1" },
      plan: { n: 3 },
      stock: { n: 2 },
    });
  });

  it("does not read a large output that a later one replaced", async () => {
    const large = { ref: { key: "run-1/x", sha256: "x", bytes: 100_000 } };
    const steps = [step(0, "plan", {}, { output: large }), step(1, "plan", { n: 2 })];
    expect((await foldState(run, steps, noPayloads)).state["plan"]).toEqual({ n: 2 });
  });

  it("says who turned the last attempt back, until somebody answers again", async () => {
    const turned = [step(0, "review", rejected)];
    expect((await foldState(run, turned, noPayloads)).state["rejection"]).toEqual({
      node: "review",
      reason: "rejected",
      comment: "no",
      by: "kim",
    });
    const settled = [...turned, step(1, "review", approved)];
    expect((await foldState(run, settled, noPayloads)).state["rejection"]).toBeUndefined();
  });

  it("keeps what a node put out before its write was sent back", async () => {
    const steps = [step(0, "place", { ref: "ref_1" }), sentBack(1)];
    expect((await foldState(run, steps, noPayloads)).state).toMatchObject({
      place: { ref: "ref_1" },
      rejection: { node: "place", reason: "digest_changed" },
    });
  });

  it.each([
    ["rejected, then approved", [step(0, "review", rejected), step(1, "review", approved)]],
    ["sent back, then rejected", [sentBack(0), step(1, "review", rejected)]],
    ["rejected, then sent back", [step(0, "review", rejected), step(1, "review", approved), sentBack(2)]],
    ["sent back, rejected, approved", [sentBack(0), step(1, "review", rejected), step(2, "review", approved)]],
    ["two approvals", [step(0, "review", rejected), step(1, "check", approved), step(2, "review", rejected)]],
  ])("is the same read back from the log as built up step by step: %s", async (_what, steps) => {
    const fromLog = await foldState(run, steps, noPayloads);
    let live = await foldState(run, [], noPayloads);
    for (const one of steps) live = live.with(one, "json" in one.output ? JSON.parse(one.output.json) : undefined);
    expect(live.state).toEqual(fromLog.state);
  });
});
