import type Stripe from "stripe";
import { z } from "zod";
import { byKey, hours, minutes, none, readTool, seconds, writeTool } from "../../../shared/index.ts";
import { refundSettings } from "./settings.ts";
import { classifySmtp, sendOnce } from "./smtp-client.ts";
import { stripeClient } from "./stripe-client.ts";

export const Order = z.object({
  id: z.string(),
  paymentId: z.string(),
  amountCents: z.number().int(),
  refundedCents: z.number().int(),
  currency: z.string(),
});
export type Order = z.infer<typeof Order>;

export const RefundRequest = z.object({
  paymentId: z.string(),
  orderId: z.string(),
  amountCents: z.number().int().positive(),
  reason: z.enum(["requested_by_customer", "duplicate", "fraudulent"]),
});
export type RefundRequest = z.infer<typeof RefundRequest>;

export const Refund = z.object({ id: z.string(), amountCents: z.number().int(), status: z.string() });
export type Refund = z.infer<typeof Refund>;

export const Mail = z.object({ to: z.email(), subject: z.string().min(1), text: z.string().min(1) });
export type Mail = z.infer<typeof Mail>;

/** Where an operation id is kept on the other side, so that it can be looked up once the key's window has passed. */
const operationMetadata = "surefoot_operation_id";

const refundOf = (refund: Stripe.Refund): Refund => ({
  id: refund.id,
  amountCents: refund.amount,
  status: refund.status ?? "unknown",
});

/** The order behind a payment, and how much of it was refunded already. */
export async function readOrder(paymentId: string, signal: AbortSignal): Promise<Order> {
  const payment = await stripeClient(signal).paymentIntents.retrieve(paymentId, { expand: ["latest_charge"] });
  const charge = typeof payment.latest_charge === "object" ? payment.latest_charge : null;
  return {
    id: payment.metadata["order_id"] ?? payment.id,
    paymentId: payment.id,
    amountCents: payment.amount_received,
    refundedCents: charge?.amount_refunded ?? 0,
    currency: payment.currency,
  };
}

export const lookupOrder = readTool("lookup_order", {
  version: 1,
  input: z.object({ paymentId: z.string() }),
  output: Order,
  timeout: seconds(5),
  execute: ({ paymentId }, { signal }) => readOrder(paymentId, signal),
});

/** Stripe keeps the first result per key for at least 24 hours, and lists the refunds of a payment afterwards. */
export const createRefund = writeTool("create_refund", {
  version: 1,
  risk: "high",
  input: RefundRequest,
  output: Refund,
  timeout: seconds(5),
  downstream: byKey({
    window: hours(24),
    settle: minutes(1),
    lookup: async (request: RefundRequest, operationId, { signal }) => {
      const refunds = await stripeClient(signal).refunds.list({ payment_intent: request.paymentId, limit: 100 });
      const found = refunds.data.find((refund) => refund.metadata?.[operationMetadata] === operationId);
      if (found) return { found: refundOf(found) };
      return refunds.has_more ? "cannot_tell" : "not_found";
    },
  }),
  semanticFields: ["paymentId", "amountCents"],
  externalRef: (refund) => refund.id,
  resultOf: (id, request) => ({ id, amountCents: request.amountCents, status: "unknown" }),
  execute: async (request, { idempotencyKey, signal }) =>
    refundOf(
      await stripeClient(signal).refunds.create(
        {
          payment_intent: request.paymentId,
          amount: request.amountCents,
          reason: request.reason,
          metadata: { order_id: request.orderId, [operationMetadata]: idempotencyKey },
        },
        { idempotencyKey },
      ),
    ),
});

export const lookupRefund = readTool("lookup_refund", {
  version: 1,
  input: z.object({ refundId: z.string() }),
  output: Refund,
  timeout: seconds(5),
  execute: async ({ refundId }, { signal }) => refundOf(await stripeClient(signal).refunds.retrieve(refundId)),
});

/**
 * SMTP knows neither keys nor queries: a mail whose acceptance was not heard is UNKNOWN, and a person looks. So one worker sends it, from a
 * queue: nothing else of the run can come between its claim and its record, and the run waits for the ledger meanwhile.
 */
export const sendMail = writeTool("send_mail", {
  version: 1,
  risk: "medium",
  input: Mail,
  output: z.object({ messageId: z.string() }),
  timeout: seconds(5),
  downstream: none({ delivery: "queue" }),
  semanticFields: ["to", "subject", "text"],
  externalRef: ({ messageId }) => messageId,
  resultOf: (messageId) => ({ messageId }),
  classify: classifySmtp,
  execute: async (mail, { idempotencyKey, signal }) => {
    const { smtpUrl, mailFrom } = refundSettings();
    const messageId = `<${idempotencyKey}@surefoot>`;
    const headers = { "X-Surefoot-Operation": idempotencyKey };
    await sendOnce(smtpUrl, { ...mail, from: mailFrom, messageId, headers }, signal);
    return { messageId };
  },
});
