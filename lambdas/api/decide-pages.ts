import { Hono } from "hono";
import { BadRequest } from "../../shared/faults/faults.ts";
import { askedDigest } from "../../shared/link/asked-digest.ts";
import type { Approvers } from "../../shared/notify/approvers.ts";
import { decideApproval, type DecidePorts } from "../../shared/run/decide-approval.ts";
import { sendAnswer } from "./answer-page.ts";
import { inboxPath } from "./approval-pages.ts";
import { callerOf, knowApprovers } from "./caller.ts";
import { isForm, readDecisionForm } from "./decision-form.ts";
import { approvalPath, findApproval } from "./find-approval.ts";
import { refuseAsPages } from "./page-problem.ts";
import { showApproval } from "./show-approval.ts";

/** Decisions that an approval's page sends; whatever is no form goes to `api`, as it is. */
export function withDecisionForms(api: Hono, ports: DecidePorts & { readonly approvers: Approvers }): Hono {
  const pages = new Hono();
  refuseAsPages(pages, { logger: ports.logger, clock: ports.clock, inbox: inboxPath });
  pages.post(approvalPath, async (c) => {
    knowApprovers(c, ports.approvers);
    const id = c.req.param("waiter_id");
    const sent = await readDecisionForm(c);
    const waiter = await findApproval(id, ports.log);
    if (sent.asked !== askedDigest(waiter)) {
      throw new BadRequest("digest_changed", `approval ${id} is no longer what was shown. Nothing was decided`, 409);
    }
    const request = {
      decision: sent.decision,
      approver: callerOf(c, sent.by),
      comment: sent.comment === "" ? undefined : sent.comment,
    };
    const answer = await decideApproval(waiter, request, ports);
    const approval = await showApproval(await findApproval(id, ports.log), ports);
    return sendAnswer(c, answer, approval, { nowMs: ports.clock.nowMs(), inbox: inboxPath });
  });

  const app = new Hono();
  app.use(async (c, next) => {
    knowApprovers(c, ports.approvers);
    await next();
  });
  app.post(approvalPath, (c, next) => (isForm(c) ? Promise.resolve(pages.fetch(c.req.raw, c.env as object)) : next()));
  app.route("/", api);
  return app;
}
