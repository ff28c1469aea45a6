import { z } from "zod";
import type { Agent } from "../../../shared/agent/agent.ts";
import type { WriteNode } from "../../../shared/agent/node.ts";
import { operationId } from "../../../shared/operation/operation-id.ts";
import { RunId, type RunRecord } from "../../../shared/runlog/run-record.ts";
import { startMs } from "./drill-settings.ts";

const runId = RunId.parse("drill-1");

export const OrderSchema = z.object({ order: z.string(), amountCents: z.number().int() });
export const ReceiptSchema = z.object({ ref: z.string(), amountCents: z.number().int() });

/** The one run of all executors, and its one operation. */
export const run: RunRecord = {
  run_id: runId,
  agent: "drilled",
  workflow_id: "drill",
  workflow_version: 1,
  contract_digest: "digest",
  checkpoint_schema_version: 1,
  status: "RUNNING",
  input: { json: "{}" },
  input_digest: "digest",
  entry: "place",
  state_machine_arn: "arn:aws:states:us-east-1:000000000000:stateMachine:drilled",
  execution: `${runId}-1`,
  execution_attempt: 1,
  created_at: new Date(startMs).toISOString(),
  updated_at: new Date(startMs).toISOString(),
  write_id: "w",
};
export const theId = operationId(runId, "place", "ORD-1");

export const agentOf = (node: WriteNode): Agent => ({
  name: "drilled",
  version: 1,
  input: OrderSchema,
  stepsMax: 10,
  nodes: [node],
});
