import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { type LocalRunner, startLocalRunner } from "../local/local-runner.ts";
import { type RefundWorld, startRefundWorld } from "../local/refund-world.ts";
import { type ApiClient, apiClient } from "./api-client.ts";
import { Approvals, type Run, Run as RunShape, Started } from "./api-shapes.ts";
import { CliError } from "./cli-error.ts";
import { describeApproval } from "./describe-approval.ts";
import { describeOperations } from "./describe-run.ts";
import { type Output, table } from "./output.ts";
import { refundAgentModule } from "./shipped-agent.ts";

/** A refund that needs a reviewer, and leaves enough of the payment that a second one would go through. */
const ticket = {
  orderId: "ORD-DEMO-2",
  paymentId: "pi_demo_2",
  requestedAmountCents: 6_000,
  customerEmail: "customer@example.com",
  message: "The kettle arrived broken. I would like half of the price back.",
};
const agent = "refund-agent";
const pollMs = 150;
/** The control route waits no longer than this. */
const commitWaitMs = 120_000;
/** Two invocations' leases and their work, on a slow machine. */
const patienceMs = 180_000;

const Payments = z.object({ refunds: z.number(), requests: z.number() });
const Mail = z.object({ emails: z.number() });
const Model = z.object({ requests: z.number() });

/** What the demo ends with, and what `--json` prints. */
interface DemoResult {
  readonly run_id: string;
  readonly workflow_id: string;
  readonly status: string;
  readonly effects: { readonly refunds: number; readonly emails: number };
  readonly kills: number;
  readonly model_requests: number;
  readonly ledger: readonly Pick<
    Run["operations"][number],
    "operation_id" | "action_name" | "status" | "external_ref" | "attempt"
  >[];
  readonly steps: readonly { readonly position: string; readonly kind: string; readonly outcome: string }[];
}

/**
 * The worst moment, on purpose: the worker is killed with SIGKILL after the payments server committed the refund and before the ledger
 * knows. @returns 0 only if exactly one refund and one mail exist outside.
 */
export async function demo({
  output,
  keep,
}: {
  readonly output: Output;
  readonly keep: string | undefined;
}): Promise<0 | 1> {
  const folder = keep ?? mkdtempSync(join(tmpdir(), "surefoot-demo-"));
  output.progress(
    "Starting a payments server, a mail server, a model server, DynamoDB and Step Functions on this machine …",
  );
  const world = await startRefundWorld();
  let runner: LocalRunner | undefined;
  try {
    runner = await startLocalRunner({
      folder,
      agents: [{ modulePath: refundAgentModule(), environment: world.environment }],
    });
    const result = await play(runner, world, output);
    const ok = result.status === "SUCCEEDED" && result.effects.refunds === 1 && result.effects.emails === 1;
    output.result(result, () => describe(result, ok));
    return ok ? 0 : 1;
  } finally {
    await runner?.stop();
    await world.stop();
    if (keep === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

async function play(runner: LocalRunner, world: RefundWorld, output: Output): Promise<DemoResult> {
  const api = apiClient(runner.url);
  const started = Started.parse((await api.post("/runs", { agent, workflow_id: "TICKET-1", input: ticket })).body);
  output.progress(`Run ${started.run_id} for workflow ${started.workflow_id}\n`);
  const steps = createStepPrinter(output);

  await until(api, started.run_id, steps, (run) => run.status === "WAITING");
  const approval = Approvals.parse(await api.get("/approvals")).approvals[0];
  if (!approval) throw new CliError(1, "no_approval", "the run waits, but no approval is listed");
  output.progress(`\nA person is asked:\n${describeApproval(approval)}\n`);

  // The payments server commits the refund and then says nothing: the worker hangs exactly between the effect and its record.
  await world.payments.control.post("faults", { fault: "hold_after_commit", times: 1 });
  await api.post(`/approvals/${encodeURIComponent(approval.approval_id)}`, {
    decision: "approve",
    by: "demo-reviewer",
    payload_digest: approval.payload_digest,
  });
  output.progress("Approved over HTTP.");
  await world.payments.control.get(`wait?for=commit&count=1&timeout_ms=${commitWaitMs}`);
  const kills = killWorker(runner);
  output.progress(
    `The payments server has committed the refund. Killed the worker with SIGKILL before the ledger knew.`,
  );
  output.progress(
    "Recovering: the lease must lapse first, since only then the dead attempt cannot still be running …\n",
  );

  const run = await until(api, started.run_id, steps, (current) => !["RUNNING", "WAITING"].includes(current.status));
  const [payments, mail, model] = await Promise.all([
    world.payments.control.get("effects").then((value) => Payments.parse(value)),
    world.mail.control.get("effects").then((value) => Mail.parse(value)),
    world.model.control.get("requests").then((value) => Model.parse(value)),
  ]);
  return {
    run_id: run.run_id,
    workflow_id: run.workflow_id,
    status: run.status,
    effects: { refunds: payments.refunds, emails: mail.emails },
    kills,
    model_requests: model.requests,
    ledger: run.operations.map(({ operation_id, action_name, status, external_ref, attempt }) => ({
      operation_id,
      action_name,
      status,
      external_ref,
      attempt,
    })),
    steps: run.steps.map(({ position, kind, outcome }) => ({ position, kind, outcome })),
  };
}

/** @returns how many processes were killed. */
function killWorker(runner: LocalRunner): number {
  const busy = runner.lambdas.processes(runner.functionOf(agent)).filter((worker) => worker.busy);
  for (const worker of busy) process.kill(worker.pid, "SIGKILL");
  return busy.length;
}

function createStepPrinter(output: Output): (run: Run) => void {
  let shown = 0;
  return (run) => {
    for (const step of run.steps.slice(shown)) {
      output.progress(`  ${step.position.padEnd(16)} ${step.kind.padEnd(9)} ${step.outcome}`);
    }
    shown = run.steps.length;
  };
}

async function until(
  api: ApiClient,
  runId: string,
  show: (run: Run) => void,
  done: (run: Run) => boolean,
): Promise<Run> {
  const giveUpAt = Date.now() + patienceMs;
  for (;;) {
    const run = RunShape.parse(await api.get(`/runs/${encodeURIComponent(runId)}`));
    show(run);
    if (done(run)) return run;
    if (Date.now() > giveUpAt) {
      throw new CliError(
        1,
        "too_slow",
        `run ${runId} is still ${run.status} after ${patienceMs / 1_000} s: run the demo again with --keep <folder> and look into its logs`,
      );
    }
    await new Promise((next) => setTimeout(next, pollMs));
  }
}

function describe(result: DemoResult, ok: boolean): string {
  return [
    "",
    "What the ledger says",
    describeOperations(result.ledger.map((entry) => ({ ...ledgerRow, ...entry }))),
    "",
    "What the other side counted",
    table(
      ["EFFECT", "COUNT"],
      [
        ["refunds at the payments server", String(result.effects.refunds)],
        ["mails in the mailbox", String(result.effects.emails)],
        ["requests to the model", String(result.model_requests)],
        ["workers killed", String(result.kills)],
      ],
    ),
    "",
    ok
      ? `Run ${result.status}: one refund and one mail exist outside, and the ledger knows both.`
      : `Run ${result.status}: expected exactly one refund and one mail outside, found ${result.effects.refunds} and ${result.effects.emails}.`,
  ].join("\n");
}

/** Columns of the operations table that the demo does not keep. */
const ledgerRow = {
  run_id: "",
  business_key: "-",
  position: "",
  capability: "",
  may_have_applied: true,
  updated_at: "",
};
