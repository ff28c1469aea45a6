import { Hono } from "hono";
import { z } from "zod";
import { type ApprovalOutcome, Decision } from "../../shared/approval/approval.ts";
import { cancelApproval } from "../../shared/run/cancel-approval.ts";
import { type DecidedApproval, decideApproval, type DecidePorts } from "../../shared/run/decide-approval.ts";
import { type Waiter, waiterId } from "../../shared/waiter/waiter.ts";
import { callerOf } from "./caller.ts";
import { checkRequest, oneOf } from "./check-request.ts";
import { approvalPath, findApproval } from "./find-approval.ts";
import { jsonBody, refuseInOneShape } from "./problem.ts";

/** Characters of a comment: a reviewer's paragraph, not a document. */
const commentCharsMax = 4_000;
const By = z.string().min(1).max(256).optional();
const Comment = z.string().max(commentCharsMax).optional();

const DecisionBody = z.strictObject({
  decision: oneOf(Decision.options),
  /** Who decides, where the API does not know the caller. */
  by: By,
  comment: Comment,
  /** What the decider saw: refused if the request behind the approval is another one. */
  payload_digest: z.string().optional(),
  /** The version of the approval that the decider saw: refused once it counts no more. */
  expected_version: z.number().int().positive().optional(),
});
const CancelBody = z.strictObject({ by: By, comment: Comment });

/** `POST /approvals/{id}` decides, once: 200 for the decision that counts and its repeats, 409 with the winner's for any other. */
export function createDecideApp(ports: DecidePorts): Hono {
  const app = new Hono();
  refuseInOneShape(app, ports.logger);

  app.post("/approvals/:waiter_id{.+}/cancel", async (c) => {
    const body = checkRequest(CancelBody, await jsonBody(c), "Nothing was changed");
    const waiter = await findApproval(c.req.param("waiter_id"), ports.log);
    const { outcome, changed, wake } = await cancelApproval(waiter, callerOf(c, body.by), body.comment, ports);
    return c.json({ ...namesOf(waiter), status: outcome.outcome, decision: outcome, changed, ...woken(wake) });
  });

  app.post(approvalPath, async (c) => {
    const body = checkRequest(DecisionBody, await jsonBody(c), "Nothing was decided");
    const waiter = await findApproval(c.req.param("waiter_id"), ports.log);
    const answer = await decideApproval(
      waiter,
      {
        decision: body.decision,
        approver: callerOf(c, body.by),
        comment: body.comment,
        payloadDigest: body.payload_digest,
        expectedVersion: body.expected_version,
      },
      ports,
    );
    return c.json({ ...namesOf(waiter), ...answerBody(waiter, answer) }, statusOf(answer));
  });
  return app;
}

const namesOf = (waiter: Waiter) => ({
  approval_id: waiterId(waiter.run_id, waiter.position),
  run_id: waiter.run_id,
});

/** `resumed` says whether somebody was there to be told. A run that is on its way to its wait finds the answer there. */
const woken = (wake: string) => ({ resumed: wake === "woken" || wake === "told_before", wake });

const statusOf = (answer: DecidedApproval): 200 | 409 => (answer.kind === "counted" || answer.counts ? 200 : 409);

function answerBody(waiter: Waiter, answer: DecidedApproval) {
  switch (answer.kind) {
    case "counted":
      return { status: "pending", votes: answer.votes, quorum: answer.quorum };
    case "decided": {
      const { outcome, counts, wake } = answer;
      const error = { code: "already_decided", message: sayWinner(waiter, outcome) };
      return { status: outcome.outcome, decision: outcome, ...woken(wake), ...(!counts && { error }) };
    }
    default:
      return answer satisfies never;
  }
}

function sayWinner(waiter: Waiter, { outcome, by, at }: ApprovalOutcome): string {
  const id = waiterId(waiter.run_id, waiter.position);
  if (outcome === "expired")
    return `approval ${id} was valid until ${waiter.expires_at} and expired: nothing is sent on it`;
  return `approval ${id} was ${outcome}${by === undefined ? "" : ` by ${by}`} at ${at}: that decision counts`;
}
