import { Hono } from "hono";
import { z } from "zod";
import { ApprovalOutcome, ApprovalSubject } from "../../shared/approval/approval.ts";
import { BadRequest } from "../../shared/faults/faults.ts";
import { OperationStatus } from "../../shared/ledger/ledger-entry.ts";
import type { LedgerStore } from "../../shared/ledger/ledger-store.ts";
import { unpackValue } from "../../shared/payloads/claim-check.ts";
import type { RunPorts } from "../../shared/run/ports.ts";
import { parseWaiterId, type Waiter, waiterId } from "../../shared/waiter/waiter.ts";
import { refuseInOneShape } from "./problem.ts";
import { issuesOf } from "./start-app.ts";
import { operationView, runView } from "./views.ts";

/** Rows of one listing: what a person reads, and far below a response's limit. */
const listLimitMax = 200;
const Limit = z.coerce.number().int().min(1).max(listLimitMax).default(50);

const RunsQuery = z.object({ agent: z.string().optional(), workflow_id: z.string().optional(), limit: Limit });
const OperationsQuery = z.object({ run_id: z.string().optional(), status: OperationStatus.optional() });

/** Everything that is only looked at. */
export function createReadApp(
  agents: readonly string[],
  ports: RunPorts & { readonly ledgerStore: LedgerStore },
): Hono {
  const app = new Hono();
  const { log, ledgerStore } = ports;
  refuseInOneShape(app, ports.logger);

  app.get("/runs", async (c) => {
    const query = parse(RunsQuery, c.req.query());
    if (query.workflow_id !== undefined) return c.json({ runs: await log.listRunsOfWorkflow(query.workflow_id) });
    const names = query.agent === undefined ? agents : [query.agent];
    const runs = (await Promise.all(names.map((agent) => log.listRuns({ agent, limit: query.limit })))).flat();
    return c.json({ runs: runs.sort((a, b) => b.created_at.localeCompare(a.created_at)).slice(0, query.limit) });
  });

  app.get("/runs/:run_id", async (c) => {
    const runId = decodeURIComponent(c.req.param("run_id"));
    const history = await log.read(runId);
    if (!history) throw new BadRequest("unknown_run", `there is no run "${runId}": surefoot runs lists them`, 404);
    return c.json(await runView(history, await ledgerStore.listByRun(runId), ports.payloads));
  });

  app.get("/operations", async (c) => {
    const query = parse(OperationsQuery, c.req.query());
    if (query.run_id === undefined && query.status === undefined) {
      throw new BadRequest("invalid_request", "expected run_id, status, or both: the whole ledger is not listed");
    }
    const entries =
      query.run_id !== undefined
        ? await ledgerStore.listByRun(query.run_id)
        : await ledgerStore.listOpen(query.status ?? "UNKNOWN");
    const wanted = entries.filter((entry) => query.status === undefined || entry.status === query.status);
    return c.json({ operations: wanted.map(operationView) });
  });

  app.get("/approvals", async (c) => {
    const waiters = (await log.listOpenWaiters()).filter((waiter) => waiter.kind === "approval");
    return c.json({ approvals: await Promise.all(waiters.map((waiter) => approvalView(waiter, ports))) });
  });

  app.get("/approvals/:waiter_id{.+}", async (c) => {
    const id = decodeURIComponent(c.req.param("waiter_id"));
    const key = parseWaiterId(id);
    const waiter = key && (await log.readWaiter(key.runId, key.position));
    if (waiter?.kind !== "approval")
      throw new BadRequest(
        "unknown_approval",
        `there is no approval "${id}": surefoot approvals lists the ones that wait`,
        404,
      );
    return c.json(await approvalView(waiter, ports));
  });
  return app;
}

function parse<S extends z.ZodType>(schema: S, query: Readonly<Record<string, string>>): z.infer<S> {
  const parsed = schema.safeParse(query);
  if (!parsed.success) throw new BadRequest("invalid_request", issuesOf(parsed.error));
  return parsed.data;
}

/** What a reviewer sees. The task token is a secret and never part of it. */
async function approvalView(waiter: Waiter, { log, payloads }: RunPorts) {
  const subject = ApprovalSubject.parse(await unpackValue(payloads, waiter.subject));
  const step = await log.readStep(waiter.run_id, waiter.position);
  const decision = step && ApprovalOutcome.parse(await unpackValue(payloads, step.output));
  return {
    approval_id: waiterId(waiter.run_id, waiter.position),
    status: decision ? decision.outcome : "pending",
    ...(decision && { decision, resume_pending: waiter.status === "OPEN" }),
    run_id: waiter.run_id,
    workflow_id: waiter.workflow_id,
    agent: waiter.agent,
    node: waiter.node,
    risk: waiter.risk,
    action_name: subject.action_name,
    operation_id: subject.operation_id,
    payload_digest: subject.payload_digest,
    view: subject.view,
    requested_at: waiter.requested_at,
    expires_at: waiter.expires_at,
  };
}
