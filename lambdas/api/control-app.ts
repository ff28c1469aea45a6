import { Hono } from "hono";
import { z } from "zod";
import { BadRequest } from "../../shared/faults/faults.ts";
import type { LedgerStore } from "../../shared/ledger/ledger-store.ts";
import { undoneOperation } from "../../shared/operation/undone-operation.ts";
import { cancelRun } from "../../shared/run/cancel-run.ts";
import { type ResolvePorts, resolveOperation } from "../../shared/run/resolve-operation.ts";
import { resumeRun } from "../../shared/run/resume-run.ts";
import type { Releases } from "../../shared/release/releases.ts";
import { planMove } from "../../shared/run/move-run.ts";
import { isCompensating, isOpen, retirementOf, type RunRecord } from "../../shared/runlog/run-record.ts";
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
const ResumeBody = z.strictObject({
  by: By,
  /** Takes the run to that version of its agent, where it may go. @default the one that it is on */
  version: z.number().int().positive().optional(),
});
const CancelBody = z.strictObject({
  by: By,
  /** Undoes first what the run has done and declares how to undo. */
  compensate: z.boolean().default(false),
});

/** What an operator does: says what happened, lets a run go on, or ends it. */
export function createControlApp(
  ports: ResolvePorts & { readonly ledgerStore: LedgerStore; readonly releases: Pick<Releases, "list"> },
): Hono {
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
    const body = checkRequest(ResumeBody, await jsonBody(c), unchanged);
    const { by } = callerOf(c, body.by);
    const history = await ports.log.read(runId);
    if (!history) throw unknownRun(runId);
    const { run } = history;
    if (!isOpen(run.status))
      throw new BadRequest("not_resumable", `run ${runId} has ended: ${run.status}. Nothing was started`, 409);
    const move = body.version === undefined ? undefined : await planMove(history, body.version, ports);
    if (!move) refuseRetired(run);
    // Whoever resumes has mended the cause: what did not happen gets its attempts again.
    for (const entry of await ports.ledgerStore.listByRun(runId)) {
      if (entry.status === "FAILED_RETRYABLE") await ports.ledger.grant(entry);
      // What is to be undone stays so: given up for good, it is still owed.
      const owed = run.compensation !== undefined && undoneOperation(entry) !== undefined;
      if (entry.status === "FAILED_FINAL" && owed) await ports.ledger.reopen(entry);
    }
    const resumed = await resumeRun(runId, ports, move?.to);
    if (!resumed.resumed) throw new BadRequest("not_resumable", `${resumed.why}. Nothing was started`, 409);
    ports.logger.info("run resumed by an operator", {
      run_id: runId,
      resumed_by: by,
      ...(move && { to_version: move.to.workflow_version }),
    });
    return c.json({
      run_id: runId,
      status: "RUNNING",
      execution: resumed.execution,
      ...(move && {
        to_version: move.to.workflow_version,
        verdict: move.comparison?.verdict ?? "same",
        asks_again: (move.comparison?.voids.length ?? 0) > 0,
      }),
    });
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

function refuseRetired(run: RunRecord): void {
  const retired = retirementOf(run);
  if (!retired) return;
  throw new BadRequest(
    "version_retired",
    `version ${run.workflow_version} of ${run.agent}, which run ${run.run_id} is on, was retired by ${retired.by}: ${retired.reason}. ${unchanged}: say --version with one of surefoot versions ${run.agent}, or cancel the run`,
    409,
  );
}
