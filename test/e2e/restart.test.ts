import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { apiClient } from "../../infra/cli/api-client.ts";
import { Approvals } from "../../infra/cli/api-shapes.ts";
import { type ControlClient, controlClient } from "../../infra/local/downstreams/control-client.ts";
import { MailEffects } from "../../infra/local/downstreams/mail-server.ts";
import { PaymentsEffects } from "../../infra/local/downstreams/payments-server.ts";
import { actionsOf, seedPayment, slowMs, ticketFor } from "./stage.ts";

vi.setConfig({ testTimeout: slowMs, hookTimeout: slowMs });

const agent = "refund-agent";
const folder = mkdtempSync(join(tmpdir(), "surefoot-restart-"));
const lives: ChildProcess[] = [];

afterAll(async () => {
  for (const life of lives) await killed(life);
  rmSync(folder, { recursive: true, force: true });
});

test("a runner that is killed with -9 goes on with every open run; each effect happens once, and the mail in doubt is a person's", async () => {
  const first = await serve();
  const thinks = await first.start(agent, "thinks", await ticket(first, "thinks", 1_000));
  const waits = await first.start(agent, "waits", await ticket(first, "waits", 6_000));
  const pays = await first.start(agent, "pays", await ticket(first, "pays", 7_000));
  const ended = await first.start(agent, "ended", await ticket(first, "ended", 1_000));
  await first.ended(ended);
  await first.ended(thinks);
  const asks = await first.asked(waits);
  const approvedBefore = await first.asked(pays);

  // One is in the middle of its refund, one of its mail, one of a thought, and one waits for a person, when everything dies.
  await first.mail.post("faults", { fault: "hold_after_accept", to: "mails@example.com" });
  const mails = await first.start(agent, "mails", await ticket(first, "mails", 1_000));
  await first.mail.get("wait?for=message&count=3&timeout_ms=120000");
  const { refunds } = await paymentsOf(first);
  await first.payments.post("faults", { fault: "hold_after_commit" });
  await first.approve(approvedBefore);
  await first.payments.get(`wait?for=commit&count=${refunds + 1}&timeout_ms=120000`);
  const { requests } = ModelCount.parse(await first.model.get("requests"));
  await first.model.post("faults", { fault: "hang" });
  const halfThought = await first.start(agent, "half-thought", await ticket(first, "half-thought", 1_000));
  await first.model.get(`wait?for=request&count=${requests + 1}&timeout_ms=120000`);
  await killed(first.process);

  // The next life is cut short as well, as soon as it has taken the runs up.
  const second = await serve();
  expect(new Set(second.resumed)).toEqual(new Set([waits, pays, mails, halfThought]));
  await killed(second.process);

  const third = await serve();
  expect(new Set(third.resumed)).toEqual(new Set([waits, pays, mails, halfThought]));
  const { approvals } = Approvals.parse(await third.api.get("/approvals"));
  expect(approvals.filter(({ status }) => status === "pending").map(({ approval_id }) => approval_id)).toEqual([
    asks.approval_id,
  ]);
  await third.approve(asks);

  for (const runId of [waits, pays, halfThought]) {
    expect(await third.ended(runId)).toMatchObject({ status: "SUCCEEDED", outcome: "completed" });
  }
  const doubted = await third.ended(mails);
  expect(doubted).toMatchObject({ status: "PARKED", waiting_for: "notify" });
  expect(doubted.operations.map(({ action_name, status }) => [action_name, status])).toEqual([
    ["create_refund", "SUCCEEDED"],
    ["send_mail", "UNKNOWN"],
  ]);
  expect((await paymentsOf(third)).by_payment).toEqual({
    pi_thinks: { count: 1, amount_cents: 1_000 },
    pi_ended: { count: 1, amount_cents: 1_000 },
    pi_waits: { count: 1, amount_cents: 6_000 },
    pi_pays: { count: 1, amount_cents: 7_000 },
    pi_mails: { count: 1, amount_cents: 1_000 },
    pi_half_thought: { count: 1, amount_cents: 1_000 },
  });
  const { messages } = MailEffects.parse(await third.mail.get("effects"));
  expect(messages.map(({ to }) => to.join()).sort()).toEqual(
    ["ended", "half-thought", "mails", "pays", "thinks", "waits"].map((name) => `${name}@example.com`),
  );
});

interface Life extends ReturnType<typeof actionsOf> {
  readonly process: ChildProcess;
  readonly resumed: readonly string[];
  readonly payments: ControlClient;
  readonly mail: ControlClient;
  readonly model: ControlClient;
}

const Ready = z.object({
  url: z.string(),
  pid: z.number(),
  resumed: z.array(z.string()),
  payments: z.string(),
  mail: z.string(),
  model: z.string(),
});
const ModelCount = z.object({ requests: z.number() });

/** `surefoot serve` as a user starts it, on the folder that all lives share. */
async function serve(): Promise<Life> {
  const repository = resolve(import.meta.dirname, "../..");
  const cli = join(repository, "infra/cli/surefoot.ts");
  const life = spawn(process.execPath, ["--import", "tsx", cli, "serve", "--folder", folder, "--port", "0", "--json"], {
    cwd: repository,
    stdio: ["ignore", "pipe", "pipe"],
  });
  lives.push(life);
  let said = "";
  life.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  for await (const line of createInterface({ input: life.stdout })) {
    const ready = Ready.parse(JSON.parse(line));
    expect(ready.pid).toBe(life.pid);
    const [payments, mail, model] = [ready.payments, ready.mail, ready.model].map((url) => controlClient(url));
    if (!payments || !mail || !model) break;
    return { process: life, resumed: ready.resumed, payments, mail, model, ...actionsOf(apiClient(ready.url)) };
  }
  throw new Error(`expected serve to say where it is, but it ended: ${said}`);
}

/** Gone, and with it everything it had started. */
async function killed(life: ChildProcess): Promise<void> {
  if (life.exitCode !== null || life.signalCode !== null) return;
  const gone = new Promise((done) => life.once("exit", done));
  life.kill("SIGKILL");
  await gone;
}

async function ticket({ payments }: Life, name: string, amountCents: number) {
  await seedPayment(payments, name);
  return ticketFor(name, amountCents);
}

const paymentsOf = async ({ payments }: Life) => PaymentsEffects.parse(await payments.get("effects"));
