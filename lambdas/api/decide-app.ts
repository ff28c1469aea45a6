import { Hono } from "hono";
import { z } from "zod";
import { type ApprovalOutcome, ApprovalSubject, Decision } from "../../shared/approval/approval.ts";
import { BadRequest } from "../../shared/faults/faults.ts";
import { unpackValue } from "../../shared/payloads/claim-check.ts";
import { isoTime } from "../../shared/ports/clock.ts";
import type { Waker } from "../../shared/ports/executions.ts";
import { answerApproval } from "../../shared/run/answer-waiter.ts";
import type { RunPorts } from "../../shared/run/ports.ts";
import { isOpen } from "../../shared/runlog/run-record.ts";
import { parseWaiterId, type Waiter } from "../../shared/waiter/waiter.ts";
import { callerOf } from "./caller.ts";
import { jsonBody, refuseInOneShape } from "./problem.ts";
import { issuesOf } from "./start-app.ts";

/** Characters of a comment: a reviewer's paragraph, not a document. */
const commentCharsMax = 4_000;

const DecisionBody = z.strictObject({
  decision: Decision,
  /** Who decides, where the API does not know the caller. */
  by: z.string().min(1).max(256).optional(),
  comment: z.string().max(commentCharsMax).optional(),
  /** What the decider saw: refused if the request behind the approval is another one. */
  payload_digest: z.string().optional(),
});

/** `POST /approvals/{id}` decides, once: 200 for the decision that counts and its repeats, 409 with the winner's for any other. */
export function createDecideApp(ports: RunPorts & { readonly waker: Waker }): Hono {
  const app = new Hono();
  refuseInOneShape(app, ports.logger);
  app.post("/approvals/:waiter_id{.+}", async (c) => {
    const id = decodeURIComponent(c.req.param("waiter_id"));
    const parsed = DecisionBody.safeParse(await jsonBody(c));
    if (!parsed.success) throw new BadRequest("invalid_request", `${issuesOf(parsed.error)}. Nothing was decided`);
    const body = parsed.data;
    const waiter = await readApproval(id, ports);
    const subject = ApprovalSubject.parse(await unpackValue(ports.payloads, waiter.subject));
    if (body.payload_digest !== undefined && body.payload_digest !== subject.payload_digest) {
      throw new BadRequest(
        "digest_changed",
        `approval ${id} is for request ${subject.payload_digest}: look at it again. Nothing was decided`,
        409,
      );
    }
    const who = callerOf(c, body.by);
    await refuseClosed(id, waiter, ports);

    const nowMs = ports.clock.nowMs();
    const wanted = outcomeOf(body.decision);
    const mine: ApprovalOutcome = {
      outcome: nowMs > Date.parse(waiter.expires_at) ? "expired" : wanted,
      payload_digest: subject.payload_digest,
      tool_version: subject.tool_version,
      valid_until: waiter.expires_at,
      ...(nowMs <= Date.parse(waiter.expires_at) && who),
      ...(body.comment !== undefined && { comment: body.comment }),
      at: isoTime(nowMs),
    };
    const { outcome, wake } = await answerApproval(waiter, mine, ports);
    const counts = outcome.outcome === wanted && outcome.by === who.by;
    const answer = { approval_id: id, run_id: waiter.run_id, decision: outcome, resumed: wake === "woken", wake };
    if (counts) return c.json(answer, 200);
    return c.json({ ...answer, error: { code: "already_decided", message: sayWinner(id, outcome) } }, 409);
  });
  return app;
}

const outcomeOf = (decision: Decision): "approved" | "rejected" => (decision === "approve" ? "approved" : "rejected");

const sayWinner = (id: string, outcome: ApprovalOutcome): string =>
  `approval ${id} was ${outcome.outcome}${outcome.by === undefined ? "" : ` by ${outcome.by}`} at ${outcome.at}: that decision counts`;

async function readApproval(id: string, { log }: RunPorts): Promise<Waiter> {
  const key = parseWaiterId(id);
  const waiter = key && (await log.readWaiter(key.runId, key.position));
  if (waiter?.kind !== "approval") {
    throw new BadRequest(
      "unknown_approval",
      `there is no approval "${id}": surefoot approvals lists the ones that wait`,
      404,
    );
  }
  return waiter;
}

/** A run that ended without this answer needs none. */
async function refuseClosed(id: string, waiter: Waiter, ports: RunPorts & { readonly waker: Waker }): Promise<void> {
  const [run, step] = await Promise.all([
    ports.log.readRun(waiter.run_id),
    ports.log.readStep(waiter.run_id, waiter.position),
  ]);
  if (step || (run && isOpen(run.status))) return;
  throw new BadRequest(
    "run_ended",
    `approval ${id} belongs to a run that is ${run?.status ?? "gone"}: nothing was decided`,
    409,
  );
}
