import { Hono } from "hono";
import { z } from "zod";
import { BadRequest } from "../../shared/faults/faults.ts";
import type { LedgerStore } from "../../shared/ledger/ledger-store.ts";
import { undoneOperation } from "../../shared/operation/undone-operation.ts";
import { cancelRun } from "../../shared/run/cancel-run.ts";
import { type ResolvePorts, resolveOperation } from "../../shared/run/resolve-operation.ts";
import { resumeRun } from "../../shared/run/resume-run.ts";
import { isCompensating, isOpen } from "../../shared/runlog/run-record.ts";
import { checkRunId, unknownRun } from "./find-runs.ts";
import { checkRequest } from "./check-request.ts";
import { callerOf } from "./caller.ts";
import { jsonBody, refuseInOneShape } from "./problem.ts";
import { operationView } from "./views.ts";

/** Characters of the reason somebody gives: a paragraph with links, not a document. */
const evidenceCharsMax = 4_000;
const unchanged = "Nothing was changed";
const By = z.string().min(1).max(256).optional();

const ResolutionBody = z.strictObject({
  outcome: z.enum(["succeeded", "failed", "retry"]),
  external_ref: z.string().min(1).max(1_024).optional(),
  /** What the tool would have answered, where its reference alone does not say it. */
  result: z.unknown().optional(),
  evidence: z.string().min(1).max(evidenceCharsMax),
  by: By,
  /** The version of the operation that was looked at. */
  expected_version: z.number().int().positive().optional(),
});
const RunBody = z.strictObject({ by: By });
const CancelBody = z.strictObject({
  by: By,
  /** Undoes first what the run has done and declares how to undo. */
  compensate: z.boolean().default(false),
});

/** What an operator does: says what happened, lets a run go on, or ends it. */
export function createControlApp(ports: ResolvePorts & { readonly ledgerStore: LedgerStore }): Hono {
  const app = new Hono();
  refuseInOneShape(app, ports.logger);

  app.post("/operations/:operation_id/resolution", async (c) => {
    const body = checkRequest(ResolutionBody, await jsonBody(c), unchanged);
    const { by } = callerOf(c, body.by);
    const { entry, changed, wake } = await resolveOperation(
      {
        operationId: c.req.param("operation_id"),
        outcome: body.outcome,
        externalRef: body.external_ref,
        result: body.result,
        evidence: body.evidence,
        by,
        expectedVersion: body.expected_version,
      },
      ports,
    );
    return c.json({ operation: operationView(entry), changed, wake });
  });

  app.post("/runs/:run_id/resume", async (c) => {
    const runId = checkRunId(c.req.param("run_id"));
    const { by } = callerOf(c, checkRequest(RunBody, await jsonBody(c), unchanged).by);
    const run = await ports.log.readRun(runId);
    if (!run) throw unknownRun(runId);
    if (!isOpen(run.status))
      throw new BadRequest("not_resumable", `run ${runId} has ended: ${run.status}. Nothing was started`, 409);
    // Whoever resumes has mended the cause: what did not happen gets its attempts again.
    for (const entry of await ports.ledgerStore.listByRun(runId)) {
      if (entry.status === "FAILED_RETRYABLE") await ports.ledger.grant(entry);
      // What is to be undone stays so: given up for good, it is still owed.
      const owed = run.compensation !== undefined && undoneOperation(entry) !== undefined;
      if (entry.status === "FAILED_FINAL" && owed) await ports.ledger.reopen(entry);
    }
    const resumed = await resumeRun(runId, ports);
    if (!resumed.resumed) throw new BadRequest("not_resumable", `${resumed.why}. Nothing was started`, 409);
    ports.logger.info("run resumed by an operator", { run_id: runId, resumed_by: by });
    return c.json({ run_id: runId, status: "RUNNING", execution: resumed.execution });
  });

  app.post("/runs/:run_id/cancel", async (c) => {
    const runId = checkRunId(c.req.param("run_id"));
    const body = checkRequest(CancelBody, await jsonBody(c), unchanged);
    const { by } = callerOf(c, body.by);
    const { run, changed } = await cancelRun(runId, by, ports, { compensate: body.compensate });
    return c.json({ run_id: runId, status: run.status, changed, compensating: isCompensating(run) });
  });
  return app;
}
