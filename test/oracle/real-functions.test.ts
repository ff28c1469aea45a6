import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { type ApiClient, apiClient } from "../../infra/cli/api-client.ts";
import { Approvals, Run, Started } from "../../infra/cli/api-shapes.ts";
import { refundAgentModule } from "../../infra/cli/shipped-agent.ts";
import { MailEffects } from "../../infra/local/downstreams/mail-server.ts";
import { PaymentsEffects } from "../../infra/local/downstreams/payments-server.ts";
import { startLambdaEndpoint } from "../../infra/local/lambda/lambda-endpoint.ts";
import { startLocalRunner } from "../../infra/local/local-runner.ts";
import { startRefundWorld } from "../../infra/local/refund-world.ts";
import { stateMachineArn } from "../../infra/local/step-functions/arn.ts";
import { executionName, RunId } from "../../shared/runlog/run-record.ts";
import { createStateMachine, executionArn, sfnClient, untilEnded } from "./drive.ts";
import { shapeOf, type StatesOf } from "./history-shape.ts";
import { describeWithMoto, type Moto, type MotoOptions } from "./moto.ts";
import { withoutVersions } from "./without-versions.ts";

/** Bundling, cold starts of a process for each function, and a run, on a busy machine. */
const patienceMs = 180_000;
const agent = "refund-agent";
const ticket = {
  orderId: "ORD-ORACLE-1",
  paymentId: "pi_oracle_1",
  requestedAmountCents: 6_000,
  customerEmail: "customer@example.com",
  message: "The kettle arrived broken. I would like half of the price back.",
};

describeWithMoto("the shipped refund agent with its real functions", (start) => {
  vi.setConfig({ testTimeout: 2 * patienceMs, hookTimeout: patienceMs });
  const stops: (() => unknown)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });

  test("runs to its end on moto's interpreter, with one refund and one queued mail, and along the same states as on ours", async () => {
    const theirs = await refund(stops, start);
    const ours = await refund(stops);
    for (const { run, effects } of [theirs, ours]) {
      expect(run.status).toBe("SUCCEEDED");
      expect(effects).toEqual({ refunds: 1, emails: 1 });
      expect(run.operations.map(({ action_name, status, attempt }) => [action_name, status, attempt])).toEqual([
        ["create_refund", "SUCCEEDED", 1],
        ["send_mail", "SUCCEEDED", 1],
      ]);
    }
    expect([theirs.own, ours.own]).toEqual([0, 1]);
    expect(theirs.run.steps.map(({ position }) => position)).toEqual(ours.run.steps.map(({ position }) => position));
    expect(theirs.history).toEqual(ours.history);
  });
});

/** Within a failure's cause, where it names files of a folder that each runner has for itself. */
const stackTrace = /,\\"trace\\":\[.*\\"\]/u;

/** One refund that a reviewer approves, over the HTTP API. With `start`, moto runs the states, and the runner's interpreter none. */
async function refund(stops: (() => unknown)[], start?: (options: MotoOptions) => Promise<Moto>) {
  const folder = mkdtempSync(join(tmpdir(), "surefoot-oracle-"));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  const world = await startRefundWorld();
  stops.push(() => world.stop());
  const { paymentId, orderId } = ticket;
  await world.payments.control.post("payments", { id: paymentId, amount_cents: 50_000, order_id: orderId });

  const lambda = await startLambdaEndpoint({
    // Nobody calls before there is a state machine.
    invoke: async (name, payload) => (await running).lambdas.invoke(name, payload),
  });
  stops.push(() => lambda.stop());
  const moto = await start?.({ lambdaPort: lambda.port });
  stops.push(() => moto?.stop());
  const front = moto && (await withoutVersions(moto.url));
  stops.push(() => front?.stop());
  const running = startLocalRunner({
    folder,
    agents: [{ modulePath: refundAgentModule(), environment: world.environment }],
    ...(front && { stepFunctionsEndpointFor: async () => front.url }),
  });
  const runner = await running;
  const { stop: stopRunner, stepFunctions } = runner;
  stops.push(stopRunner);

  const { definition = "" } = stepFunctions.describeStateMachine({ stateMachineArn: stateMachineArn(agent) });
  const sfn = sfnClient(moto?.url ?? runner.stepFunctionsEndpoint);
  stops.push(() => sfn.destroy());
  if (moto) await createStateMachine(sfn, agent, definition);

  const api = apiClient(runner.url);
  const { run_id: runId } = Started.parse(
    (await api.post("/runs", { agent, workflow_id: "TICKET-1", input: ticket })).body,
  );
  await approve(api, runId);
  const run = await until(api, runId, ({ status }) => !["RUNNING", "WAITING"].includes(status));
  const { history } = await untilEnded(sfn, executionArn(agent, executionName(RunId.parse(runId), 1)), patienceMs);
  const own = stepFunctions.listExecutions({ stateMachineArn: stateMachineArn(agent) }).executions ?? [];
  return {
    run,
    /** Executions that the runner's own interpreter ran. */
    own: own.length,
    effects: {
      refunds: PaymentsEffects.parse(await world.payments.control.get("effects")).refunds,
      emails: MailEffects.parse(await world.mail.control.get("effects")).emails,
    },
    history: shapeOf(history, JSON.parse(definition) as StatesOf).map((line) =>
      line.replaceAll(runId, "(run)").replace(stackTrace, ""),
    ),
  };
}

async function approve(api: ApiClient, runId: string): Promise<void> {
  await until(api, runId, ({ status }) => status === "WAITING");
  const { approvals } = Approvals.parse(await api.get("/approvals"));
  const asked = approvals.find(({ run_id }) => run_id === runId);
  await api.post(`/approvals/${encodeURIComponent(asked?.approval_id ?? "none is listed")}`, {
    decision: "approve",
    by: "a reviewer",
    payload_digest: asked?.payload_digest,
  });
}

async function until(api: ApiClient, runId: string, done: (run: Run) => boolean): Promise<Run> {
  const giveUpAt = Date.now() + patienceMs;
  for (;;) {
    const run = Run.parse(await api.get(`/runs/${encodeURIComponent(runId)}`));
    if (done(run)) return run;
    if (Date.now() > giveUpAt || ["FAILED", "PARKED"].includes(run.status)) {
      throw new Error(`the run came no further than ${run.status}: ${JSON.stringify(run.failure)}`);
    }
    await new Promise((next) => setTimeout(next, 200));
  }
}
