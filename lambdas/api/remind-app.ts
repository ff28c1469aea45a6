import { Hono } from "hono";
import { z } from "zod";
import { BadRequest } from "../../shared/faults/faults.ts";
import { tellApprovers, type TellPorts } from "../../shared/notify/tell-approvers.ts";
import { isoTime } from "../../shared/ports/clock.ts";
import type { RunPorts } from "../../shared/run/ports.ts";
import { waiterId } from "../../shared/waiter/waiter.ts";
import { standingOf } from "./approval-status.ts";
import { callerOf } from "./caller.ts";
import { checkRequest } from "./check-request.ts";
import { findApproval } from "./find-approval.ts";
import { jsonBody, problem, refuseInOneShape } from "./problem.ts";

const RemindBody = z.strictObject({ by: z.string().min(1).max(256).optional() });

/** `POST /approvals/{id}/remind` tells people again, with new links: the old ones may be lost, or signed by a key that is gone. */
export function createRemindApp(ports: RunPorts & TellPorts): Hono {
  const app = new Hono();
  refuseInOneShape(app, ports.logger);
  app.post("/approvals/:waiter_id{.+}/remind", async (c) => {
    const id = c.req.param("waiter_id");
    const { by } = callerOf(c, checkRequest(RemindBody, await jsonBody(c), "Nobody was told").by);
    const waiter = await findApproval(id, ports.log);
    const { status } = await standingOf(waiter, ports);
    if (status !== "pending") {
      throw new BadRequest(
        "not_pending",
        `approval ${id} is ${status}: there is nothing to decide, and nobody was told`,
        409,
      );
    }
    const { sent, failed } = await tellApprovers(waiter, "reminder", ports, isoTime(ports.clock.nowMs()));
    ports.logger.info("approval reminded of on request", {
      run_id: waiter.run_id,
      position: waiter.position,
      reminded_by: by,
    });
    const answer = { approval_id: waiterId(waiter.run_id, waiter.position), sent, failed };
    if (failed.length === 0) return c.json(answer);
    const message = `not told by ${failed.join(", ")}: look at the function's log, then try again`;
    return c.json({ ...answer, ...problem("not_told", message) }, 502);
  });
  return app;
}
