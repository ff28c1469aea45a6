import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HistoryEvent } from "@aws-sdk/client-sfn";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { executionArn, stateMachineArn } from "../../infra/local/step-functions/arn.ts";
import { type DynamoRequest, isWrite } from "../builders/dynamo-proxy.ts";
import { seedPayment, slowMs, type Stage, startStage, ticketFor } from "./stage.ts";

vi.setConfig({ testTimeout: slowMs, hookTimeout: slowMs });

const agent = "quick-refund";
/** Nothing else looks like it: where it is found, user data has leaked. */
const marker = "Zq7Marker4userdata";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage({ agents: [agent] });
});
afterAll(() => stage?.stop());

/** Runs of one ticket each, whose every free field carries the marker. */
const markedTicket = (name: string, amountCents: number) => ({
  ...ticketFor(name, amountCents),
  customerEmail: `${marker}.${name}@example.com`,
  message: `My name is ${marker}.`,
});

async function played(name: string, decide: boolean) {
  await seedPayment(stage.world.payments.control, name);
  const runId = await stage.start(agent, name, markedTicket(name, decide ? 6_000 : 1_000));
  if (decide) {
    const { approval_id, payload_digest } = await stage.asked(runId);
    const body = { decision: "approve", by: `${marker}-reviewer`, comment: `${marker} agrees`, payload_digest };
    await stage.api.post(`/approvals/${encodeURIComponent(approval_id)}`, body);
  }
  return stage.ended(runId);
}

describe("a refund run with an approval", () => {
  let runId: string;
  beforeAll(async () => {
    const run = await played("counted", true);
    expect(run.status).toBe("SUCCEEDED");
    runId = run.run_id;
  });

  test("makes one durable write a node, three a write, and four where a person approved the request or a queue has it", () => {
    const kinds = stage.proxy.requests
      .filter((request) => isWrite(request) && concerns(request, runId, "counted"))
      .map(kindOf);
    expect(countsOf(kinds)).toEqual({
      "start: workflow": 1,
      "start: run": 1,
      // One a node without effect, and the third of each write.
      step: 8,
      // The first and second of each write; the refund's request was frozen before it was shown.
      "operation PENDING create_refund": 1,
      "operation STARTED create_refund": 1,
      "operation SUCCEEDED create_refund": 1,
      // The mail's was written before it was handed to the queue.
      "operation PENDING send_mail": 1,
      "operation STARTED send_mail": 1,
      "operation SUCCEEDED send_mail": 1,
      // The question, who waits for its answer, and that it was given: once by the reviewer, once by the queue's worker.
      "waiter asked": 2,
      "waiter token": 2,
      "waiter answered": 2,
      // That the reviewer was told of it, kept so that the sweep need not tell them again.
      "NOTICE UpdateItem": 1,
      "run WAITING": 2,
      "run RUNNING": 2,
      "run SUCCEEDED": 1,
    });
  });

  test("takes at most six state transitions, and one more for its queued mail", () => {
    const transitions = stage.runner.stepFunctions.stateTransitions(executionArn(agent, `${runId}-1`));
    expect(transitions).toBeLessThanOrEqual(7);
  });
});

describe("whatever a ticket, a reviewer and the other side say", () => {
  /** Of waits and of attempts. Whoever has one could answer in its owner's place. */
  let tokens: readonly { readonly table: string; readonly text: string }[];
  const answers: string[] = [];

  beforeAll(async () => {
    await played("said", true);
    await stage.world.payments.control.post("faults", { fault: "status", status: 402 });
    expect((await played("declined", false)).status).toBe("FAILED");
    await stage.world.mail.control.post("faults", { fault: "reject", status: 550 });
    expect((await played("bounced", false)).status).toBe("FAILED");
    await stage.world.model.control.post("faults", { fault: "not_json", times: 3 });
    expect((await played("rambled", false)).status).toBe("PARKED");
    // A payment that does not exist: Stripe's refusal repeats its name.
    const missing = { ...markedTicket("missing", 1_000), paymentId: `pi_${marker}` };
    expect((await stage.ended(await stage.start(agent, "missing", missing))).status).toBe("FAILED");

    // Each once: a wait's token is written when it begins, and named again when it is answered.
    const named = stage.proxy.requests.flatMap(({ table, values }) => {
      const text = values[":token"];
      return typeof text === "string" ? [{ table, text }] : [];
    });
    tokens = [...new Map(named.map((token) => [token.text, token])).values()];
    const { runs } = (await stage.api.get("/runs?limit=200")) as {
      readonly runs: readonly { readonly run_id: string }[];
    };
    const paths = runs.flatMap(({ run_id }) => [`/runs/${run_id}`, `/operations?run_id=${run_id}`]);
    const { approvals } = (await stage.api.get("/approvals")) as { readonly approvals: readonly unknown[] };
    expect(approvals).toEqual([]);
    const waiters = await Promise.all(paths.map(async (path) => JSON.stringify(await stage.api.get(path))));
    answers.push(...waiters);
    for (const id of waiters.flatMap((text) =>
      [...text.matchAll(/"waiter_id":"([^"]+)","kind":"approval"/gu)].map(([, id]) => id ?? ""),
    )) {
      answers.push(JSON.stringify(await stage.api.get(`/approvals/${encodeURIComponent(id)}`)));
    }
  });

  test("nothing of it is in any execution's history", () => {
    const executions = stage.runner.stepFunctions.listExecutions({
      stateMachineArn: stateMachineArn(agent),
      maxResults: 1_000,
    });
    const arns = (executions.executions ?? []).map((execution) => execution.executionArn ?? "");
    const events = arns.flatMap(historyOf);
    expect(arns).toHaveLength(6);
    // The scan would find it: a history that was cut off or empty must not pass.
    expect(countsOf(events.map(({ type }) => type ?? ""))).toMatchObject({
      ExecutionStarted: 6,
      ExecutionFailed: 4,
      ExecutionSucceeded: 2,
    });
    for (const event of events) expect(JSON.stringify(event)).not.toContain(marker);
    expect(answers.join()).toContain(marker);
  });

  test("none of it is in a function's log", () => {
    const logs = logsOf(stage.folder);
    expect(logs.length).toBeGreaterThan(1_000);
    expect(linesWith(logs, marker)).toEqual([]);
  });

  test("no token is in a function's log, and none in an answer of the API", () => {
    // Two reviews and three mails.
    expect(countsOf(tokens.map(({ table }) => table))).toMatchObject({ runs: 5 });
    for (const { text } of tokens) {
      expect(text.length).toBeGreaterThan(16);
      expect(linesWith(logsOf(stage.folder), text)).toEqual([]);
      expect(answers.join()).not.toContain(text);
    }
    expect(answers.join()).not.toContain("task_token");
  });
});

function historyOf(arn: string): HistoryEvent[] {
  const events: HistoryEvent[] = [];
  let nextToken: string | undefined;
  do {
    const page = stage.runner.stepFunctions.getExecutionHistory({
      executionArn: arn,
      ...(nextToken !== undefined && { nextToken }),
    });
    events.push(...(page.events ?? []));
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return events;
}

/** The workflow's pointer, the run's partition, and its operations, which are written whole and so name their run. */
const concerns = ({ item }: DynamoRequest, runId: string, workflowId: string): boolean =>
  item["run_id"] === runId || item["run_id"] === `WORKFLOW#${agent}#${workflowId}`;

function kindOf({ operation, table, item, values }: DynamoRequest): string {
  if (table === "ledger") return `operation ${String(item["status"])} ${String(item["action_name"])}`;
  const kind = String(item["item"]).split("#")[0] ?? "";
  const created = operation === "PutItem";
  switch (kind) {
    case "WORKFLOW":
      return "start: workflow";
    case "RUN":
      return created ? "start: run" : `run ${String(values[":status"])}`;
    case "STEP":
      return "step";
    case "WAIT":
      return created ? "waiter asked" : ":answered" in values ? "waiter answered" : "waiter token";
    default:
      return `${kind} ${operation}`;
  }
}

function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function logsOf(folder: string): string {
  const logs = join(folder, "logs");
  return readdirSync(logs)
    .map((file) => readFileSync(join(logs, file), "utf8"))
    .join("\n");
}

const linesWith = (text: string, part: string): string[] => text.split("\n").filter((line) => line.includes(part));
