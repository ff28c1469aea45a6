import { Hono } from "hono";
import { z } from "zod";
import type { Releases } from "../../shared/release/releases.ts";
import type { RunPorts } from "../../shared/run/ports.ts";
import { retireVersion } from "../../shared/run/retire-version.ts";
import { BadRequest } from "../../shared/faults/faults.ts";
import { callerOf } from "./caller.ts";
import { checkRequest } from "./check-request.ts";
import { jsonBody, refuseInOneShape } from "./problem.ts";

/** Characters of the reason: a sentence and a link. */
const reasonCharsMax = 1_000;
/** Marked runs that are named. */
const namedMax = 20;
const unchanged = "Nothing was retired";

const RetirementBody = z.strictObject({
  by: z.string().min(1).max(256).optional(),
  /** Why none of its runs may go on by itself. */
  reason: z.string().trim().min(1).max(reasonCharsMax),
});

/** `POST /releases/{agent}/{version}/retirement`: no run goes on on that version by itself any more. */
export function createRetireApp(ports: RunPorts & { readonly releases: Releases }): Hono {
  const app = new Hono();
  refuseInOneShape(app, ports.logger);
  app.post("/releases/:agent/:version/retirement", async (c) => {
    const agent = c.req.param("agent");
    const version = versionOf(c.req.param("version"));
    const body = checkRequest(RetirementBody, await jsonBody(c), unchanged);
    const { by } = callerOf(c, body.by);
    const { retirement, changed, marked, markedBefore, left } = await retireVersion(
      agent,
      version,
      { by, reason: body.reason },
      ports,
    );
    return c.json({
      agent,
      workflow_version: version,
      retired: retirement,
      changed,
      runs: { marked: marked.length, marked_before: markedBefore, left, examples: marked.slice(0, namedMax) },
      next: marked.length + markedBefore + left === 0 ? [] : waysOut,
    });
  });
  return app;
}

/** What can be done with a run of a retired version. */
const waysOut = [
  "surefoot resume <run> --version <n>: it goes on under another version, where its contract allows that",
  "surefoot fork <run> --at <position>: a new run with the log up to there",
  "surefoot cancel <run>: it ends here; --compensate undoes first what it has done",
];

function versionOf(text: string): number {
  if (/^[1-9]\d{0,9}$/u.test(text)) return Number(text);
  throw new BadRequest("invalid_request", `version: expected a whole number from 1, found "${text}". ${unchanged}`);
}
