import { expect } from "vitest";
import type { Operation, Run } from "../../../infra/cli/api-shapes.ts";
import type { RefundWorld } from "../../../infra/local/refund-world.ts";
import { mailEffects, paymentOf, paymentsEffects } from "../../e2e/stage.ts";
import type { Ticket } from "./refund-crowd.ts";

const operationOf = (run: Run, action: string): Operation | undefined =>
  run.operations.find(({ action_name }) => action_name === action);
export const mailOf = (run: Run): Operation | undefined => operationOf(run, "send_mail");
const refundOf = (run: Run) => operationOf(run, "create_refund");

const addressOf = (name: string) => `${name.toLowerCase()}@example.com`;

/** It has ended, or a person has to look: at a mail in doubt, or at the failure that it is parked with. */
export function goesNoFurther(run: Run): boolean {
  if (run.status !== "PARKED") return run.status === "SUCCEEDED" || run.status === "FAILED";
  return run.waiting_for === undefined || mailOf(run)?.status === "UNKNOWN";
}

/** Of runs that go no further: what the other side counted is what the ledger says, and whoever stopped says why. */
export async function judgeAtRest(runs: readonly Run[], tickets: readonly Ticket[], world: RefundWorld): Promise<void> {
  const payments = await paymentsEffects(world);
  const mails = await mailEffects(world);
  expect(runs.map(({ workflow_id }) => workflow_id)).toEqual(tickets.map(({ name }) => name));
  for (const run of runs) {
    const [refund, mail] = [refundOf(run), mailOf(run)];
    const moved = payments.by_payment[paymentOf(run.workflow_id)]?.count ?? 0;
    const sent = mails.messages.filter(({ to }) => to.join() === addressOf(run.workflow_id)).length;
    const seen = `run ${run.run_id} of ${run.workflow_id}: ${JSON.stringify({ ...run, steps: run.steps.length })}`;
    expect(["SUCCEEDED", "PARKED"], seen).toContain(run.status);
    if (run.status === "PARKED") expect(run.failure, seen).toBeDefined();
    expect(["SUCCEEDED", "PENDING", "FAILED_RETRYABLE", undefined], seen).toContain(refund?.status);
    expect(moved, seen).toBe(refund?.status === "SUCCEEDED" ? 1 : 0);
    if (mail?.status === "UNKNOWN") {
      expect(run, seen).toMatchObject({ status: "PARKED", failure: { node: "notify" } });
      expect(sent, seen).toBeLessThanOrEqual(1);
    } else {
      expect(["SUCCEEDED", "PENDING", "FAILED_RETRYABLE", undefined], seen).toContain(mail?.status);
      expect(sent, seen).toBe(mail?.status === "SUCCEEDED" ? 1 : 0);
    }
  }
}

/** Once everybody was helped: every ticket has its refund, of its amount, and its mail; nobody has anything twice. */
export async function judgeAtEnd(tickets: readonly Ticket[], world: RefundWorld): Promise<void> {
  const refunded = tickets.map(({ name, amountCents }) => [paymentOf(name), { count: 1, amount_cents: amountCents }]);
  expect((await paymentsEffects(world)).by_payment).toEqual(Object.fromEntries(refunded));
  expect((await mailEffects(world)).messages.map(({ to }) => to.join()).sort()).toEqual(
    tickets.map(({ name }) => addressOf(name)).sort(),
  );
}
