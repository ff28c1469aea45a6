import { type Context, Hono } from "hono";
import { z } from "zod";
import type { Agent } from "../../shared/agent/agent.ts";
import type { Person } from "../../shared/approval/person.ts";
import { contractDigest } from "../../shared/contract/manifest.ts";
import { Fault } from "../../shared/faults/fault.ts";
import { BadRequest } from "../../shared/faults/faults.ts";
import type { Executions } from "../../shared/ports/executions.ts";
import type { RunPorts } from "../../shared/run/ports.ts";
import { startRun } from "../../shared/run/start-run.ts";
import { callerOf, knownCaller } from "./caller.ts";
import { checkRequest } from "./check-request.ts";
import { jsonBody, refuseInOneShape } from "./problem.ts";

/** The caller's name for the business task. No colon: operation ids are made of it. */
export const WorkflowId = z
  .string()
  .regex(/^[A-Za-z0-9._/#@+=-]{1,128}$/u, "expected 1 to 128 of A-Z a-z 0-9 . _ / # @ + = - (no colon, no spaces)");

const StartBody = z.strictObject({
  agent: z.string(),
  workflow_id: WorkflowId,
  input: z.unknown(),
  allow_new_run: z.boolean().default(false),
  /** Who starts it, where the API does not know the caller. */
  by: z.string().min(1).max(256).optional(),
});

/** Whoever starts a run need not say who they are, unless an approval of it excludes them. */
function starterOf(c: Context, claimed: string | undefined): Person | undefined {
  if (claimed === undefined && knownCaller(c) === undefined) return undefined;
  const { by, known_by } = callerOf(c, claimed);
  return { by, known_by };
}

/** What runs are started on. */
export interface StartedOn {
  /** Of each agent. */
  readonly stateMachines: Readonly<Record<string, string>>;
  /** The contracts that those were compiled from, where the code can be of another deployment. */
  readonly contracts: Readonly<Record<string, string>>;
}

/**
 * Lambda changes a function's code and its settings one after the other, and a request in between sees one of each: it would write one
 * version's contract and run another's states. @throws Fault `deploying`, which passes within seconds.
 */
function refuseHalfDeployed(agent: Agent, contract: string | undefined): void {
  if (contract === undefined || contract === contractDigest(agent)) return;
  throw new Fault(
    "deploying",
    "retryable",
    `a deployment of ${agent.name} is under way: nothing was started; try again in a minute`,
  );
}

/** `POST /runs` starts a run, or returns the one that the workflow has. */
export function createStartApp(
  agents: readonly Agent[],
  { stateMachines, contracts }: StartedOn,
  ports: RunPorts & { readonly executions: Executions },
): Hono {
  const app = new Hono();
  refuseInOneShape(app, ports.logger);
  app.post("/runs", async (c) => {
    const body = checkRequest(StartBody, await jsonBody(c), "Nothing was started");
    const agent = agents.find((candidate) => candidate.name === body.agent);
    const stateMachineArn = stateMachines[body.agent];
    if (!agent || stateMachineArn === undefined) {
      const known = agents.map((candidate) => candidate.name).join(", ");
      throw new BadRequest("unknown_agent", `there is no agent "${body.agent}" here: expected one of ${known}`, 404);
    }
    refuseHalfDeployed(agent, contracts[agent.name]);
    const request = {
      workflowId: body.workflow_id,
      input: body.input,
      allowNewRun: body.allow_new_run,
      startedBy: starterOf(c, body.by),
    };
    const { run, created, sameInput } = await startRun(agent, stateMachineArn, request, ports);
    return c.json(
      {
        run_id: run.run_id,
        workflow_id: run.workflow_id,
        agent: run.agent,
        status: run.status,
        created,
        ...(!created && { same_input: sameInput }),
      },
      created ? 201 : 200,
    );
  });
  return app;
}
