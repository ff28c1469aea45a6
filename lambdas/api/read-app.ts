import { Hono } from "hono";
import { z } from "zod";
import { type LedgerEntry, OperationStatus, settledStatuses } from "../../shared/ledger/ledger-entry.ts";
import type { LedgerStore } from "../../shared/ledger/ledger-store.ts";
import { readContract } from "../../shared/contract/kept-contract.ts";
import { BadRequest } from "../../shared/faults/faults.ts";
import type { RunPorts } from "../../shared/run/ports.ts";
import type { RunLog } from "../../shared/runlog/run-log.ts";
import { RunStatus } from "../../shared/runlog/run-record.ts";
import { approvalStatuses } from "./approval-status.ts";
import { approvalView } from "./approval-view.ts";
import { checkRequest, countUpTo, oneOf } from "./check-request.ts";
import { findApproval } from "./find-approval.ts";
import { findApprovals } from "./find-approvals.ts";
import { checkRunId, findRuns, unknownRun } from "./find-runs.ts";
import { refuseInOneShape } from "./problem.ts";
import { WorkflowId } from "./start-app.ts";
import { operationView, runView } from "./views.ts";

/** Rows of one listing: what a person reads, and far below a response's limit. */
const listLimitMax = 200;

const RunsQuery = z.strictObject({
  agent: z.string().optional(),
  workflow_id: WorkflowId.optional(),
  status: oneOf(RunStatus.options).optional(),
  limit: countUpTo(listLimitMax).default(50),
});
const OperationsQuery = z.strictObject({
  run_id: z.string().optional(),
  status: oneOf(OperationStatus.options).optional(),
});
const ApprovalsQuery = z.strictObject({
  status: oneOf(approvalStatuses).default("pending"),
  agent: z.string().optional(),
  /** Asked before this instant. */
  requested_before: z.iso.datetime({ error: "expected an instant like 2026-09-02T12:00:00.000Z" }).optional(),
  /** A name or a role: what they may decide, or had a word in. */
  approver: z.string().optional(),
  limit: countUpTo(listLimitMax).default(listLimitMax),
});
type OperationsQuery = z.infer<typeof OperationsQuery>;

/** Everything that is only looked at. */
export function createReadApp(
  agents: readonly string[],
  ports: RunPorts & { readonly ledgerStore: LedgerStore },
): Hono {
  const app = new Hono();
  const { log, ledgerStore } = ports;
  refuseInOneShape(app, ports.logger);

  app.get("/runs", async (c) => {
    const query = checkRequest(RunsQuery, c.req.query());
    return c.json({ runs: await findRuns(query, agents, log) });
  });

  app.get("/runs/:run_id", async (c) => {
    const runId = checkRunId(c.req.param("run_id"));
    const history = await log.read(runId);
    if (!history) throw unknownRun(runId);
    return c.json(await runView(history, await ledgerStore.listByRun(runId), ports.payloads));
  });

  /** What the runs rely on that name this digest. */
  app.get("/contracts/:digest", async (c) => {
    const digest = c.req.param("digest");
    const contract = /^[0-9a-f]{64}$/u.test(digest) ? await readContract(digest, ports) : undefined;
    if (contract) return c.json(contract);
    throw new BadRequest("unknown_contract", `there is no contract "${digest}": a run names its own`, 404);
  });

  app.get("/operations", async (c) => {
    const query = checkRequest(OperationsQuery, c.req.query());
    return c.json({ operations: (await findOperations(query, ledgerStore, log)).map(operationView) });
  });

  app.get("/approvals", async (c) => {
    const { requested_before: requestedBefore, ...query } = checkRequest(ApprovalsQuery, c.req.query());
    return c.json(await findApprovals({ ...query, requestedBefore }, agents, ports));
  });

  app.get("/approvals/:waiter_id{.+}", async (c) => {
    return c.json(await approvalView(await findApproval(c.req.param("waiter_id"), log), ports));
  });
  return app;
}

async function findOperations(
  { run_id, status }: OperationsQuery,
  store: LedgerStore,
  log: RunLog,
): Promise<readonly LedgerEntry[]> {
  if (run_id !== undefined) {
    const runId = checkRunId(run_id);
    const entries = await store.listByRun(runId);
    // An empty list would read as "nothing was done": true of a run, not of a typing error.
    if (entries.length === 0 && (await log.readRun(runId)) === undefined) throw unknownRun(runId);
    return entries.filter((entry) => status === undefined || entry.status === status);
  }
  if (status === undefined) {
    throw new BadRequest("invalid_request", "expected run_id, status, or both: the whole ledger is not listed");
  }
  if (settledStatuses.includes(status)) {
    const open = OperationStatus.options.filter((candidate) => !settledStatuses.includes(candidate));
    throw new BadRequest(
      "invalid_request",
      `status: ${status} operations are listed by run only: add run_id, or ask for one of ${open.join(", ")}`,
    );
  }
  return store.listOpen(status);
}
