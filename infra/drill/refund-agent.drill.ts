import refundAgent from "../../lambdas/agents/refund-agent/agent.ts";
import type { Mail, Refund, RefundRequest } from "../../lambdas/agents/refund-agent/tools.ts";
import { hours } from "../../shared/agent/duration.ts";
import { double } from "../in-process/double.ts";
import type { ModelAsked } from "../testing/scripted-models.ts";
import type { Seen } from "../testing/test-options.ts";
import { defineDrill } from "./drill-script.ts";

const order = { id: "ORD-1", paymentId: "pi_1", amountCents: 20_000, refundedCents: 0, currency: "eur" };

/** The agent that ships, among a payment provider that knows keys and can be asked, and a mail server that knows nothing. */
export default defineDrill({
  agent: refundAgent,
  input: {
    orderId: "ORD-1",
    paymentId: "pi_1",
    requestedAmountCents: 12_000,
    customerEmail: "customer@example.com",
    message: "It arrived broken.",
  },
  models: {
    plan: { summary: "a refund", steps: ["refund"] },
    draft: { amountCents: 12_000, reason: "requested_by_customer", explanation: "It arrived broken." },
    finalize: ({ data }: ModelAsked<{ refund: Refund }>) => ({
      summary: `refunded as ${data.refund.id}`,
      customerMessage: "We refunded you.",
    }),
  },
  tools: {
    lookup_order: () => order,
    create_refund: double.key({
      window: hours(24),
      result: ({ amountCents }: RefundRequest, { n }) => ({ id: `re_${n}`, amountCents, status: "succeeded" }),
    }),
    lookup_refund: ({ refundId }: { readonly refundId: string }, { effects }: Seen) =>
      effects("create_refund")
        .map(({ result }) => result as Refund)
        .find(({ id }) => id === refundId),
    send_mail: double.none({ result: ({ to }: Mail, { n }) => ({ messageId: `<${n}.${to}>` }) }),
  },
  preconditions: { refund: () => true },
});
