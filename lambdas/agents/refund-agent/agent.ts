import type { z } from "zod";
import { type ApprovalView, days, defineAgent, seconds } from "../../../shared/index.ts";
import { draftPrompt, finalizePrompt, planPrompt } from "./prompts.ts";
import { Draft, Plan, RefundTicket, Summary } from "./schemas.ts";
import {
  createRefund,
  lookupOrder,
  lookupRefund,
  type Order,
  readOrder,
  type RefundRequest,
  sendMail,
} from "./tools.ts";

/** Refunds above this are approved by a person. Cents. */
export const reviewAboveCents = 5_000;

/** Short answers: one that takes longer will not come. It also bounds how long a dead invocation's lease stays live. */
const modelTimeout = seconds(20);

interface Drafted {
  readonly order: Order;
  readonly draft: z.infer<typeof Draft>;
}

const toRefund = ({ order, draft }: Drafted): RefundRequest => ({
  paymentId: order.paymentId,
  orderId: order.id,
  amountCents: draft.amountCents,
  reason: draft.reason,
});

const moneyReview = ({ order, draft }: Drafted): ApprovalView => ({
  title: `Refund for order ${order.id}`,
  fields: [
    { type: "money", label: "Refund", amount_cents: draft.amountCents, currency: order.currency },
    { type: "money", label: "Paid", amount_cents: order.amountCents, currency: order.currency },
    { type: "money", label: "Refunded before", amount_cents: order.refundedCents, currency: order.currency },
    { type: "text", label: "Payment", text: order.paymentId },
  ],
  reason: draft.explanation,
  on_approve: "The refund is sent to the payment provider once, and the customer gets a mail.",
  on_reject: "Nothing is sent; the agent plans again with your comment.",
});

/** Asks the payment provider again right before the refund is sent. */
async function stillRefundable(request: RefundRequest): Promise<true | string> {
  const order = await readOrder(request.paymentId, AbortSignal.timeout(5_000));
  const left = order.amountCents - order.refundedCents;
  return (
    request.amountCents <= left ||
    `${left} cents of ${order.amountCents} are left to refund, ${request.amountCents} were asked for`
  );
}

/** Answers a refund ticket: plans, looks the order up, drafts, has larger amounts approved, refunds once, mails once, and sums up. */
export default defineAgent("refund-agent", { version: 1, input: RefundTicket })
  .model("plan", { prompt: planPrompt, output: Plan, timeout: modelTimeout })
  .read("order", { tool: lookupOrder, with: ({ input }) => ({ paymentId: input.paymentId }) })
  .model("draft", { prompt: draftPrompt, output: Draft, timeout: modelTimeout })
  .approval("review", {
    of: "refund",
    when: ({ draft }) => draft.amountCents > reviewAboveCents,
    show: moneyReview,
    validFor: days(7),
    onReject: "plan",
    onExpire: "end",
  })
  .write("refund", {
    tool: createRefund,
    with: toRefund,
    businessKey: ({ order }) => order.id,
    precondition: stillRefundable,
  })
  .write("notify", {
    tool: sendMail,
    with: ({ input, refund, order }) => ({
      to: input.customerEmail,
      subject: `Your refund for order ${order.id}`,
      text: `We refunded ${(refund.amountCents / 100).toFixed(2)} ${order.currency.toUpperCase()} (reference ${refund.id}).`,
    }),
    businessKey: ({ order }) => `refund-mail/${order.id}`,
  })
  .read("verify", { tool: lookupRefund, with: ({ refund }) => ({ refundId: refund.id }) })
  .model("finalize", { prompt: finalizePrompt, output: Summary, timeout: modelTimeout })
  .end();
