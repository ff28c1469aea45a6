import { type Context, Hono } from "hono";
import { accepts } from "hono/accepts";
import { createMiddleware } from "hono/factory";
import { askedDigest } from "../../shared/link/asked-digest.ts";
import type { RunPorts } from "../../shared/run/ports.ts";
import { approvalPage } from "../pages/approval-page.ts";
import { inboxPage } from "../pages/inbox-page.ts";
import { sendPage } from "../pages/page.ts";
import { knownCaller } from "./caller.ts";
import { findApproval } from "./find-approval.ts";
import { findApprovals } from "./find-approvals.ts";
import { refuseAsPages } from "./page-problem.ts";
import { showApproval, shownOf } from "./show-approval.ts";

/** Where the list of approvals lies. */
export const inboxPath = "/approvals";
/** Approvals that the list shows: what a person looks through. */
const listedMax = 200;

/** JSON is what a program gets that names nothing; a browser names HTML. */
const wantsPage = (c: Context): boolean =>
  accepts(c, { header: "Accept", supports: ["application/json", "text/html"], default: "application/json" }) ===
  "text/html";

/** Says to whatever stores an answer that another reader may get another one. */
const varies = createMiddleware(async (c, next) => {
  await next();
  c.header("vary", "Accept");
});

/** The list of approvals and each of them as pages, for browsers; whoever wants JSON gets it from `api`, as it is. */
export function withApprovalPages(api: Hono, agents: readonly string[], ports: RunPorts): Hono {
  const pages = new Hono();
  refuseAsPages(pages, { logger: ports.logger, clock: ports.clock, inbox: inboxPath });
  pages.get("/approvals", async (c) => {
    const { approvals } = await findApprovals({ status: "pending", limit: listedMax }, agents, ports);
    return sendPage(c, 200, inboxPage(approvals.map(shownOf), ports.clock.nowMs()));
  });
  pages.get("/approvals/:waiter_id{.+}", async (c) => {
    const waiter = await findApproval(c.req.param("waiter_id"), ports.log);
    const approval = await showApproval(waiter, ports);
    const form = { approver: knownCaller(c)?.by, hidden: { asked: askedDigest(waiter) } };
    return sendPage(c, 200, approvalPage(approval, { nowMs: ports.clock.nowMs(), form, inbox: inboxPath }));
  });

  const app = new Hono();
  const negotiate = (c: Context, next: () => Promise<void>) =>
    wantsPage(c) ? Promise.resolve(pages.fetch(c.req.raw, c.env as object)) : next();
  app.use("/approvals", varies);
  app.use("/approvals/*", varies);
  app.get("/approvals", negotiate);
  app.get("/approvals/:waiter_id{.+}", negotiate);
  app.route("/", api);
  return app;
}
