import { describe, expect, it } from "vitest";
import { at, double, testAgent, type ModelAsked, type Seen } from "../../../../infra/testing/index.ts";
import refundAgent from "../../../../lambdas/agents/refund-agent/agent.ts";
import type { Refund, RefundRequest } from "../../../../lambdas/agents/refund-agent/tools.ts";
import { days, hours } from "../../../../shared/index.ts";

const ticket = {
  orderId: "ORD-1",
  paymentId: "pi_1",
  requestedAmountCents: 12_000,
  customerEmail: "customer@example.com",
  message: "It arrived broken.",
};

/** The refund agent among doubles: a payment provider that knows keys, a mail server that knows nothing. */
const world = (amountCents = 12_000) =>
  testAgent(refundAgent, {
    models: {
      plan: { summary: "a refund", steps: ["refund"] },
      draft: { amountCents, reason: "requested_by_customer", explanation: "It arrived broken." },
      finalize: ({ data }: ModelAsked<{ refund: Refund }>) => ({
        summary: `refunded as ${data.refund.id}`,
        customerMessage: "We refunded you.",
      }),
    },
    tools: {
      lookup_order: () => ({ id: "ORD-1", paymentId: "pi_1", amountCents: 20_000, refundedCents: 0, currency: "eur" }),
      create_refund: double.key({
        window: hours(24),
        result: ({ amountCents }: RefundRequest, { n }) => ({ id: `re_${n}`, amountCents, status: "succeeded" }),
      }),
      lookup_refund: ({ refundId }: { refundId: string }, { effects }: Seen) =>
        effects("create_refund")
          .map(({ result }) => result as Refund)
          .find(({ id }) => id === refundId),
      send_mail: double.none({ result: ({ to }: { to: string }, { n }) => ({ messageId: `<${n}.${to}>` }) }),
    },
    preconditions: { refund: () => true },
  });

describe("the refund agent", () => {
  it("waits days for a person, then refunds once", async () => {
    const refunds = await world();
    const run = await refunds.start(ticket);
    await run.untilWaiting("review");
    await refunds.skip(days(3));
    expect(refunds.effects()).toEqual([]);

    await run.approve("review", { by: "kim" });
    const { status, state } = await run.untilEnd();

    expect(status).toBe("SUCCEEDED");
    expect(state["finalize"]).toMatchObject({ summary: "refunded as re_1" });
    expect(refunds.effects("create_refund", "ORD-1")).toHaveLength(1);
    expect(refunds.effects("send_mail")).toHaveLength(1);
  });

  it("refunds once though the answer was lost", async () => {
    const refunds = await world(2_000);
    refunds.fault(at.tool("create_refund"), "lost_ack");
    const run = await refunds.start(ticket);

    expect(await run.untilEnd()).toMatchObject({ status: "SUCCEEDED" });
    expect(refunds.requests("create_refund")).toHaveLength(2);
    expect(refunds.effects("create_refund")).toHaveLength(1);
  });
});
