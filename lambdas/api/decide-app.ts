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
import type { Waiter } from "../../shared/waiter/waiter.ts";
import { callerOf } from "./caller.ts";
import { checkRequest, oneOf } from "./check-request.ts";
import { findApproval } from "./find-approval.ts";
import { jsonBody, refuseInOneShape } from "./problem.ts";

/** Characters of a comment: a reviewer's paragraph, not a document. */
const commentCharsMax = 4_000;

const DecisionBody = z.strictObject({
  decision: oneOf(Decision.options),
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
    const id = c.req.param("waiter_id");
    const body = checkRequest(DecisionBody, await jsonBody(c), "Nothing was decided");
    const waiter = await findApproval(id, ports.log);
    const subject = ApprovalSubject.parse(await unpackValue(ports.payloads, waiter.subject));
    if (body.payload_digest !== undefined && body.payload_digest !== subject.payload_digest) {
      throw new BadRequest(
        "digest_changed",
        `approval ${id} is for request ${subject.payload_digest}: look at it again. Nothing was decided`,
        409,
      );
    }
    const { by, known_by } = callerOf(c, body.by);
    const who = { by, known_by };
    await refuseClosed(id, waiter, ports);

    const wanted = outcomeOf(body.decision);
    const mine = answerAt(ports.clock.nowMs(), waiter, subject, { outcome: wanted, ...who, comment: body.comment });
    const { outcome, wake } = await answerApproval(waiter, mine, ports);
    const counts = outcome.outcome === wanted && outcome.by === who.by;
    const answer = {
      approval_id: id,
      run_id: waiter.run_id,
      decision: outcome,
      resumed: wake === "woken" || wake === "told_before",
      wake,
    };
    if (counts) return c.json(answer, 200);
    return c.json({ ...answer, error: { code: "already_decided", message: sayWinner(waiter, id, outcome) } }, 409);
  });
  return app;
}

const outcomeOf = (decision: Decision): "approved" | "rejected" => (decision === "approve" ? "approved" : "rejected");

/** What is recorded: the decision while the approval is valid, afterwards its expiry, which is nobody's word. */
function answerAt(
  nowMs: number,
  waiter: Waiter,
  subject: ApprovalSubject,
  { comment, ...decided }: Pick<ApprovalOutcome, "outcome" | "by" | "known_by" | "comment">,
): ApprovalOutcome {
  const bound = {
    payload_digest: subject.payload_digest,
    tool_version: subject.tool_version,
    valid_until: waiter.expires_at,
    at: isoTime(nowMs),
  };
  // An end that is no instant counts as past.
  const inTime = nowMs <= Date.parse(waiter.expires_at);
  return inTime
    ? { ...decided, ...(comment !== undefined && { comment }), ...bound }
    : { outcome: "expired", ...bound };
}

function sayWinner({ expires_at }: Waiter, id: string, { outcome, by, at }: ApprovalOutcome): string {
  if (outcome === "expired") return `approval ${id} was valid until ${expires_at} and expired: nothing is sent on it`;
  return `approval ${id} was ${outcome}${by === undefined ? "" : ` by ${by}`} at ${at}: that decision counts`;
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
