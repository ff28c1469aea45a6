import { type Context, Hono } from "hono";
import type { ApprovalSubject } from "../../shared/approval/approval.ts";
import { type Approver, refusalOf } from "../../shared/approval/approver-rule.ts";
import { isSamePerson } from "../../shared/approval/person.ts";
import { readSubject } from "../../shared/approval/read-subject.ts";
import { BadRequest } from "../../shared/faults/faults.ts";
import { askedDigest } from "../../shared/link/asked-digest.ts";
import type { KeyRings } from "../../shared/link/cached-key-ring.ts";
import type { KeyRing } from "../../shared/link/key-ring.ts";
import { formToken, isFormToken, kidOf, type LinkClaim, openLink } from "../../shared/link/review-link.ts";
import { type Approvers, rolesOfNamed } from "../../shared/notify/approvers.ts";
import { decideApproval, type DecidePorts } from "../../shared/run/decide-approval.ts";
import type { Waiter } from "../../shared/waiter/waiter.ts";
import { approvalPage } from "../pages/approval-page.ts";
import { html } from "../pages/markup.ts";
import { sendPage } from "../pages/page.ts";
import { sendAnswer } from "./answer-page.ts";
import { readDecisionForm } from "./decision-form.ts";
import { findApproval } from "./find-approval.ts";
import { refuseAsPages } from "./page-problem.ts";
import { LinkRefused } from "./refused-link.ts";
import { showApproval } from "./show-approval.ts";

export type ReviewPorts = DecidePorts & { readonly keyRings: KeyRings; readonly approvers: Approvers };

/** A link that is good, and everything it leads to. */
interface Opened {
  readonly claim: LinkClaim;
  readonly ring: KeyRing;
  readonly waiter: Waiter;
  readonly subject: ApprovalSubject;
  readonly approver: Approver;
}

/**
 * `/review/{token}`, for people whom only their link lets in. GET shows and decides nothing, since mail programs open links by themselves;
 * POST decides, if it comes from the page that GET shows. No address is ever logged: it is the credential.
 */
export function createReviewApp(ports: ReviewPorts): Hono {
  const app = new Hono();
  refuseAsPages(app, { logger: ports.logger, clock: ports.clock });

  app.get("/review/:token", async (c) => {
    const token = c.req.param("token");
    const { waiter, subject, approver, ring, claim } = await open(token, ports);
    const approval = await showApproval(waiter, ports);
    if (approval.status !== "pending") throw new LinkRefused("decided", claim, approval.decision);
    const refusal = refusalOf(subject.approvers, approver, subject.requested_by);
    if (refusal) throw new BadRequest(refusal, `the link of approval ${claim.approval_id} may not decide it`, 403);

    const heard = approval.votes.some(({ by }) => isSamePerson(by, approver.by));
    const notice = html`<div class="note good" role="status">
      <p>You have approved this. Others have to as well.</p>
    </div>`;
    const form = { approver: approver.by, hidden: { form: formToken(token, claim.asked, ring) } };
    const nowMs = ports.clock.nowMs();
    return sendPage(c, 200, approvalPage(approval, heard ? { nowMs, notice } : { nowMs, form }));
  });

  app.post("/review/:token", async (c) => decide(c, c.req.param("token"), ports));
  return app;
}

async function decide(c: Context, token: string, ports: ReviewPorts): Promise<Response> {
  const sent = await readDecisionForm(c);
  const { waiter, approver, claim, ring } = await open(token, ports);
  if (!isFormToken(sent.form ?? "", token, claim.asked, ring)) {
    throw new BadRequest("cross_site", "the form was not made for this link", 403);
  }
  const request = { decision: sent.decision, approver, comment: sent.comment === "" ? undefined : sent.comment };
  const answer = await decideApproval(waiter, request, ports);
  const approval = await showApproval(await findApproval(claim.approval_id, ports.log), ports);
  return sendAnswer(c, answer, approval, { nowMs: ports.clock.nowMs() });
}

/** @throws LinkRefused for a link that is not good any more, or never was. */
async function open(token: string, ports: ReviewPorts): Promise<Opened> {
  const ring = await ports.keyRings.holding(kidOf(token) ?? "");
  const opened = openLink(token, ring, ports.clock.nowMs());
  if ("refused" in opened) {
    throw new LinkRefused(opened.refused, opened.refused === "expired" ? opened.claim : undefined);
  }
  const { claim } = opened;
  const waiter = await findApproval(claim.approval_id, ports.log);
  if (askedDigest(waiter) !== claim.asked) throw new LinkRefused("changed", claim);
  const subject = await readSubject(waiter, ports.payloads);
  const roles = rolesOfNamed(claim.approver, subject, ports.approvers);
  // Somebody who left keeps their links, and no say.
  if (!roles) throw new LinkRefused("not_named", claim);
  return { claim, ring, waiter, subject, approver: { by: claim.approver, known_by: "link", roles } };
}
