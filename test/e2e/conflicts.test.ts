import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import type { RunningDownstream } from "../../infra/local/downstreams/downstream-program.ts";
import { startModelServer } from "../../infra/local/downstreams/model-server.ts";
import refundModelScript from "../../infra/local/downstreams/refund-model-script.ts";
import { envNames } from "../../lambdas/env.ts";
import {
  mailEffects,
  paymentOf,
  paymentsEffects,
  seedPayment,
  slowMs,
  type Stage,
  startStage,
  ticketFor,
} from "./stage.ts";

vi.setConfig({ testTimeout: slowMs, hookTimeout: slowMs });

let stage: Stage;
let model: RunningDownstream | undefined;
/** What the model drafts for the insistent order, one amount after the other. */
const amounts = [1_000, 2_000];

beforeAll(async () => {
  model = await startModelServer({
    script: (request) => {
      const insists = request.schemaName === "draft" && request.user.includes("ORD-insistent");
      const answer = refundModelScript(request);
      return insists ? { ...(answer as object), amountCents: amounts.shift() } : answer;
    },
  });
  stage = await startStage({
    agents: ["quick-refund", "insistent-refund"],
    environment: { [envNames.modelBaseUrl]: `${model.url}/v1` },
  });
});
afterAll(async () => {
  await stage?.stop();
  await model?.close();
});

test("another amount for a refund that is done is a conflict: the run has failed, and the other side saw one request", async () => {
  await seedPayment(stage.world.payments.control, "insistent");
  const run = await stage.ended(await stage.start("insistent-refund", "insistent", ticketFor("insistent", 1_000)));
  const [operation, ...others] = run.operations;
  expect(amounts).toEqual([]);
  expect(run).toMatchObject({
    status: "FAILED",
    failure: {
      node: "refund",
      position: "0006.refund",
      attempts: 1,
      error: { code: "operation_conflict", failure_class: "final" },
    },
  });
  expect(run.failure?.error.message).toContain("nothing was sent");
  expect(others).toEqual([]);
  expect(operation).toMatchObject({ status: "SUCCEEDED", attempt: 1 });
  const payments = await paymentsEffects(stage.world);
  expect(payments.by_payment[paymentOf("insistent")]).toEqual({ count: 1, amount_cents: 1_000 });
  expect(payments.requests_by_key[operation?.operation_id ?? ""]).toBe(1);
});

const Answer = z.object({
  decision: z.object({ outcome: z.enum(["approved", "rejected"]), by: z.string() }),
  error: z.object({ code: z.string() }).optional(),
});

test("of fifty decisions at once one counts, and everybody else is told which", async () => {
  await seedPayment(stage.world.payments.control, "contested");
  const runId = await stage.start("quick-refund", "contested", ticketFor("contested", 6_000));
  const approval = await stage.asked(runId);
  const decide = async (body: object) => {
    const response = await post(`${stage.runner.url}/approvals/${encodeURIComponent(approval.approval_id)}`, body);
    return { body, status: response.status, answer: Answer.parse(await response.json()) };
  };

  const bodies = Array.from({ length: 50 }, (_, index) => ({
    decision: index % 2 === 0 ? "approve" : "reject",
    by: `reviewer-${index}`,
    comment: `comment ${index}`,
  }));
  const answers = await Promise.all(bodies.map(decide));
  const [winner, ...others] = answers.filter(({ status }) => status === 200);
  if (!winner) throw new Error(`nobody won: ${JSON.stringify(answers)}`);
  expect(others).toEqual([]);
  const losers = answers.filter((answer) => answer !== winner);
  expect(losers.map(({ status }) => status)).toEqual(Array.from({ length: 49 }, () => 409));
  for (const { answer } of losers) {
    expect(answer).toMatchObject({ decision: winner.answer.decision, error: { code: "already_decided" } });
  }

  const again = await decide(winner.body);
  expect(again).toMatchObject({ status: 200, answer: { decision: winner.answer.decision } });
  const opposite = await decide({
    ...winner.body,
    decision: winner.answer.decision.outcome === "approved" ? "reject" : "approve",
  });
  expect(opposite.status).toBe(409);

  // A rejection leads back to the plan, and to another question about the same refund.
  if (winner.answer.decision.outcome === "rejected") {
    const asked = await stage.asked(runId, approval);
    await stage.approve(asked);
  }
  expect(await stage.ended(runId)).toMatchObject({ status: "SUCCEEDED" });
  expect((await paymentsEffects(stage.world)).by_payment[paymentOf("contested")]).toEqual({
    count: 1,
    amount_cents: 6_000,
  });
  const mails = (await mailEffects(stage.world)).messages.filter(({ to }) => to.includes("contested@example.com"));
  expect(mails).toHaveLength(1);
});

/** Sends again where the gateway gave up on a function that was still starting: a repeated decision is the same decision. */
async function post(url: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return response.status === 503 ? post(url, body) : response;
}
