import { Hono } from "hono";
import { z } from "zod";
import { type ForkPorts, forkRun } from "../../shared/run/fork-run.ts";
import { callerOf } from "./caller.ts";
import { checkRequest } from "./check-request.ts";
import { checkRunId, unknownRun } from "./find-runs.ts";
import { jsonBody, refuseInOneShape } from "./problem.ts";

/** Operations that one request may name: more than that are no slip of the hand. */
const repeatsMax = 100;

const ForkBody = z.strictObject({
  by: z.string().min(1).max(256).optional(),
  at: z.string().min(1),
  live: z.boolean().default(false),
  version: z.number().int().positive().optional(),
  repeat: z.array(z.string()).max(repeatsMax).default([]),
});

/** `POST /runs/{run_id}/fork`: a new run with the log of another up to a position. */
export function createForkApp(ports: ForkPorts): Hono {
  const app = new Hono();
  refuseInOneShape(app, ports.logger);
  app.post("/runs/:run_id/fork", async (c) => {
    const runId = checkRunId(c.req.param("run_id"));
    const body = checkRequest(ForkBody, await jsonBody(c), "Nothing was started");
    const { by, known_by } = callerOf(c, body.by);
    const history = await ports.log.read(runId);
    if (!history) throw unknownRun(runId);
    const { at, live, version, repeat } = body;
    const fork = await forkRun(history, { at, live, version, repeat, by: { by, known_by } }, ports);
    return c.json(
      {
        run_id: fork.run.run_id,
        forked_from: fork.run.forked_from,
        simulated: fork.run.simulated ?? false,
        created: fork.created,
        records_taken: fork.taken,
        /** What the other run did from there on. Made again here as operations of this run, or, where it is simulated, not at all. */
        repeats: fork.repeats.map(({ operation_id, action_name, business_key, status }) => ({
          operation_id,
          action_name,
          business_key,
          status,
        })),
        writes_ahead: fork.ahead,
      },
      fork.created ? 201 : 200,
    );
  });
  return app;
}
