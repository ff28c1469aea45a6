import { z } from "zod";
import { stripeError, stripeMissing, type StripeReply } from "./stripe-reply.ts";
import type { RefundRequest } from "./refund-request.ts";

export const Payment = z.object({
  id: z.string().regex(/^pi_\w+$/),
  amount_cents: z.number().int().positive(),
  currency: z
    .string()
    .regex(/^[a-z]{3}$/)
    .default("usd"),
  order_id: z.string().min(1),
  receipt_email: z.string().nullable().default(null),
});
export type Payment = z.infer<typeof Payment>;

/** A refund in Stripe's own shape: what moved money, and what every read gives back. */
export const Refund = z.object({
  id: z.string(),
  object: z.literal("refund"),
  amount: z.number().int(),
  charge: z.string(),
  created: z.number().int(),
  currency: z.string(),
  metadata: z.record(z.string(), z.string()),
  payment_intent: z.string(),
  reason: z.string().nullable(),
  status: z.literal("succeeded"),
});
export type Refund = z.infer<typeof Refund>;

const DEMO_PAYMENTS: readonly Payment[] = [4_200, 12_000, 2_599, 80_000, 1_000].map((amountCents, index) => ({
  id: `pi_demo_${index + 1}`,
  amount_cents: amountCents,
  currency: "usd",
  order_id: `ORD-DEMO-${index + 1}`,
  receipt_email: `customer${index + 1}@example.com`,
}));

/** Payments, and the money that went back. Knows nothing of idempotency keys: that makes its count an independent judge. */
export class PaymentsBook {
  readonly #payments = new Map<string, Payment>(DEMO_PAYMENTS.map((payment) => [payment.id, payment]));
  readonly #refunds: Refund[] = [];

  seed(payment: Payment): void {
    this.#payments.set(payment.id, payment);
  }

  record(refund: Refund): void {
    this.#refunds.push(refund);
  }

  findRefund(id: string): Refund | undefined {
    return this.#refunds.find((refund) => refund.id === id);
  }

  /** Newest first, as Stripe lists them. */
  refundsOf(paymentId: string | null): Refund[] {
    return this.#refunds.filter((refund) => paymentId === null || refund.payment_intent === paymentId).toReversed();
  }

  /** What the endpoint would do with a well-formed request at this moment; changes nothing. */
  decideRefund(
    request: RefundRequest,
    id: string,
    nowMs: number,
  ): { readonly refund: Refund } | { readonly refusal: StripeReply } {
    const payment = this.#payments.get(request.paymentId);
    if (payment === undefined) {
      return { refusal: stripeMissing("payment_intent", request.paymentId, "payment_intent") };
    }
    const remaining = payment.amount_cents - this.#refundedCents(payment.id);
    const amount = request.amountCents ?? remaining;
    if (remaining <= 0) {
      const message = `Charge ${chargeId(payment)} has already been refunded.`;
      return { refusal: stripeError(400, { code: "charge_already_refunded", message }) };
    }
    if (amount > remaining) {
      const message = `Refund amount (${amount}) is greater than unrefunded amount on charge (${remaining}), in ${payment.currency} cents`;
      return { refusal: stripeError(400, { code: "amount_too_large", param: "amount", message }) };
    }
    return {
      refund: {
        id,
        object: "refund",
        amount,
        charge: chargeId(payment),
        created: Math.floor(nowMs / 1000),
        currency: payment.currency,
        metadata: request.metadata,
        payment_intent: payment.id,
        reason: request.reason,
        status: "succeeded",
      },
    };
  }

  /** The payment intent as Stripe shows it, its charge in full where asked. */
  paymentIntent(id: string, expandCharge: boolean): object | undefined {
    const payment = this.#payments.get(id);
    if (payment === undefined) return undefined;
    const refunded = this.#refundedCents(id);
    const charge = {
      id: chargeId(payment),
      object: "charge",
      amount: payment.amount_cents,
      amount_captured: payment.amount_cents,
      amount_refunded: refunded,
      currency: payment.currency,
      metadata: { order_id: payment.order_id },
      paid: true,
      payment_intent: id,
      receipt_email: payment.receipt_email,
      refunded: refunded >= payment.amount_cents,
      status: "succeeded",
    };
    return {
      id,
      object: "payment_intent",
      amount: payment.amount_cents,
      amount_received: payment.amount_cents,
      currency: payment.currency,
      latest_charge: expandCharge ? charge : charge.id,
      metadata: { order_id: payment.order_id },
      receipt_email: payment.receipt_email,
      status: "succeeded",
    };
  }

  effects(): {
    refunds: number;
    amount_cents: number;
    by_payment: Record<string, { count: number; amount_cents: number }>;
  } {
    const byPayment: Record<string, { count: number; amount_cents: number }> = {};
    for (const { payment_intent: id, amount } of this.#refunds) {
      const before = byPayment[id] ?? { count: 0, amount_cents: 0 };
      byPayment[id] = { count: before.count + 1, amount_cents: before.amount_cents + amount };
    }
    const amountCents = this.#refunds.reduce((sum, { amount }) => sum + amount, 0);
    return { refunds: this.#refunds.length, amount_cents: amountCents, by_payment: byPayment };
  }

  #refundedCents(paymentId: string): number {
    return this.refundsOf(paymentId).reduce((sum, { amount }) => sum + amount, 0);
  }
}

function chargeId(payment: Payment): string {
  return payment.id.replace(/^pi_/, "ch_");
}
