import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Run } from "../../infra/cli/api-shapes.ts";
import type { DynamoRequest, ProxyAction } from "../builders/dynamo-proxy.ts";
import {
  mailEffects,
  paymentOf,
  paymentsEffects,
  seedPayment,
  senderPid,
  slowMs,
  type Stage,
  startStage,
  ticketFor,
} from "./stage.ts";

vi.setConfig({ testTimeout: slowMs, hookTimeout: slowMs });

const agent = "quick-refund";

const actions = { refund: "create_refund", mail: "send_mail" } as const;
type Effect = keyof typeof actions;
const nodes = { refund: "refund", mail: "notify" } as const;

/** Where the process dies. CP3 is no write: there the other side holds its answer back. */
type Moment = "CP1" | "CP2" | "CP3" | "CP4" | "CP5" | "CP6";

interface Death {
  readonly effect: Effect;
  readonly at: Moment;
  readonly title: string;
  /** The run's end, how often the effect happened outside, and how often it was asked for. */
  readonly run: "SUCCEEDED" | "PARKED";
  readonly operation: "SUCCEEDED" | "UNKNOWN";
  readonly happened: number;
  readonly requests: number;
}

const refund = (at: Moment, title: string, requests: number): Death => ({
  ...{ effect: "refund", at, title, requests },
  ...{ run: "SUCCEEDED", operation: "SUCCEEDED", happened: 1 },
});
/** A mail goes through the queue: from its claim to its record it is the worker whose process dies, before and after the run's own. */
const mailSent = (at: Moment, title: string): Death => ({
  ...{ effect: "mail", at, title },
  ...{ run: "SUCCEEDED", operation: "SUCCEEDED", happened: 1, requests: 1 },
});
const mailInDoubt = (at: Moment, title: string, happened: 0 | 1): Death => ({
  ...{ effect: "mail", at, title, happened },
  ...{ run: "PARKED", operation: "UNKNOWN", requests: happened },
});

/**
 * Those whose recovery has to wait for a lease come first, so that the others end meanwhile. The first mail is never sent again, so
 * nothing else meets the fault that the refund after it sets.
 */
const deaths: readonly Death[] = [
  mailInDoubt("CP3", "once it was accepted and before the answer comes", 1),
  refund("CP3", "once the money moved and before the answer comes", 2),
  refund("CP2", "once its attempt is claimed and before it is sent", 1),
  mailInDoubt("CP2", "once its attempt is claimed and before it is sent", 0),
  refund("CP4", "once the answer is read and before it is recorded", 2),
  mailInDoubt("CP4", "once the answer is read and before it is recorded", 1),
  refund("CP1", "once its request is written and nobody was asked yet", 1),
  mailSent("CP1", "once its request is written and before it is handed to the queue"),
  refund("CP5", "once it is recorded and before the process learns so", 1),
  mailSent("CP5", "once it is recorded and before the process learns so"),
  refund("CP6", "once its step is recorded and before the process learns so", 1),
  mailSent("CP6", "once its step is recorded and before the process learns so"),
];
const nameOf = ({ effect, at }: Pick<Death, "effect" | "at">) => `${effect}-${at}`;

const titled = (death: Death): [title: string, death: Death] => [
  `${death.at}: a ${death.effect} whose process is killed ${death.title} happens ${times[death.happened]}; the run is ${death.run}`,
  death,
];
const times = ["never", "once"];

let stage: Stage;
const plays = new Map<string, Promise<Run>>();
const killed: number[] = [];

beforeAll(async () => {
  stage = await startStage({ agents: [agent] });
  // One after the other up to the kill, since faults of the other side hit whoever comes next; then all recover side by side.
  for (const death of deaths) {
    const runId = await (death.at === "CP3" ? killWhileHeld(death) : killAtWrite(death));
    const play = playOn(death, runId);
    play.catch(() => undefined); // it belongs to its own test
    plays.set(nameOf(death), play);
  }
});

afterAll(() => stage?.stop());

test.for(deaths.filter(({ effect }) => effect === "refund").map(titled))("%s", async ([, death]) => {
  const run = await endOf(death);
  const operation = operationOf(run, death);
  expect(run).toMatchObject({ status: death.run, outcome: "completed" });
  expect(operation).toMatchObject({ status: death.operation });
  const payments = await paymentsEffects(stage.world);
  expect(payments.by_payment[paymentOf(nameOf(death))]).toEqual({ count: 1, amount_cents: 6_000 });
  expect(payments.requests_by_key[operation.operation_id]).toBe(death.requests);
  expect((await mailEffects(stage.world)).by_operation[operationOf(run, { effect: "mail" }).operation_id]).toBe(1);
});

test.for(deaths.filter(({ effect }) => effect === "mail").map(titled))("%s", async ([, death]) => {
  const run = await endOf(death);
  const operation = operationOf(run, death);
  expect(run.status).toBe(death.run);
  expect(operation).toMatchObject({ status: death.operation, attempt: 1 });
  expect((await mailEffects(stage.world)).by_operation[operation.operation_id] ?? 0).toBe(death.happened);
  const payments = await paymentsEffects(stage.world);
  expect(payments.by_payment[paymentOf(nameOf(death))]).toEqual({ count: 1, amount_cents: 1_000 });
  if (death.run === "SUCCEEDED") return;
  expect(run.waiting_for).toBe("notify");
  expect(run.failure).toMatchObject({
    node: "notify",
    error: { code: "operation_unknown", failure_class: "unknown" },
    attempts: 1,
  });
  expect(run.failure?.error.message).toContain("the other side has neither a key nor a query");
  expect(run.failure?.next_move).toContain(operation.operation_id);
});

test("twelve kills ask the model for nothing that was recorded", async () => {
  const runs = await Promise.all(plays.values());
  const answered = runs.flatMap((run) => run.steps).filter((step) => step.kind === "model").length;
  const asked = (await stage.world.model.control.get("requests")) as { readonly requests: number };
  expect(killed).toHaveLength(12);
  expect(asked.requests).toBe(answered);
});

async function endOf(death: Death): Promise<Run> {
  const play = plays.get(nameOf(death));
  if (!play) throw new Error(`${nameOf(death)} was never started`);
  return play;
}

const operationOf = (run: Run, { effect }: Pick<Death, "effect">) => {
  const found = run.operations.find(({ action_name }) => action_name === actions[effect]);
  if (!found) throw new Error(`run ${run.run_id} has no ${actions[effect]}: ${JSON.stringify(run.operations)}`);
  return found;
};

/** Refunds are large enough for a reviewer, so that a PENDING request comes first; a queued mail has one anyway. */
const inputOf = (death: Death) => ticketFor(nameOf(death), death.effect === "refund" ? 6_000 : 1_000);
async function startOf(death: Death): Promise<string> {
  await seedPayment(stage.world.payments.control, nameOf(death));
  return stage.start(agent, nameOf(death), inputOf(death));
}

/** @returns the run, whose process is dead. */
async function killAtWrite(death: Death): Promise<string> {
  const dead = new Promise<void>((resolve) => {
    stage.proxy.on((request) => isTheWrite(death, request), killAt(death, resolve));
  });
  const runId = await startOf(death);
  if (death.effect === "refund" && death.at !== "CP1") await stage.approve(await stage.asked(runId));
  await dead;
  return runId;
}

/** A reviewer, where the kill came before anybody was asked, and the rest of the run. */
async function playOn(death: Death, runId: string): Promise<Run> {
  if (death.effect === "refund" && death.at === "CP1") await stage.approve(await stage.asked(runId));
  return stage.ended(runId);
}

/** Nothing that the process asked for is ever answered: it is dead by then. */
function killAt({ at }: Death, done: () => void): ProxyAction {
  const kill = (request: DynamoRequest) => {
    killSender(request);
    done();
  };
  const landed = at !== "CP4";
  return landed ? { after: kill, answer: "never" } : { before: kill, forward: false, answer: "never" };
}

function killSender(request: DynamoRequest): void {
  const pid = senderPid(request);
  process.kill(pid, "SIGKILL");
  killed.push(pid);
}

/** The write at which a process dies; for CP3 the one before it. */
function isTheWrite(death: Death, { operation, table, item }: DynamoRequest): boolean {
  if (operation !== "PutItem") return false;
  if (death.at === "CP6") {
    return table === "runs" && item["run_id"] === runIdOf(death) && item["node"] === nodes[death.effect];
  }
  return (
    table === "ledger" &&
    item["workflow_id"] === nameOf(death) &&
    item["action_name"] === actions[death.effect] &&
    item["status"] === statusWritten(death)
  );
}

function statusWritten({ at }: Death): string {
  if (at === "CP4" || at === "CP5") return "SUCCEEDED";
  return at === "CP1" ? "PENDING" : "STARTED";
}

/** From the write that opened it: the answer to whoever started it may come later than the step. */
const runIdOf = (death: Death): unknown =>
  stage.proxy.requests.find(({ item }) => item["item"] === "RUN" && item["workflow_id"] === nameOf(death))?.item[
    "run_id"
  ];

async function killWhileHeld(death: Death): Promise<string> {
  const { payments, mail } = stage.world;
  if (death.effect === "mail") {
    await mail.control.post("faults", { fault: "hold_after_accept" });
    const runId = await startOf(death);
    await mail.control.get("wait?for=message&count=1&timeout_ms=120000");
    killClaimant(death);
    return runId;
  }
  const runId = await startOf(death);
  const approval = await stage.asked(runId);
  const { refunds } = await paymentsEffects(stage.world);
  await payments.control.post("faults", { fault: "hold_after_commit" });
  await stage.approve(approval);
  await payments.control.get(`wait?for=commit&count=${refunds + 1}&timeout_ms=120000`);
  killClaimant(death);
  return runId;
}

/** The process that claimed the attempt is the one that waits for the other side. */
function killClaimant(death: Death): void {
  const claim = stage.proxy.requests.find((request) => isTheWrite(death, request));
  if (!claim) throw new Error(`${nameOf(death)}: the other side acted, but no attempt was claimed`);
  killSender(claim);
}
