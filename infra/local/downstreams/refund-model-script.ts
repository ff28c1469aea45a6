import { z } from "zod";
import type { ModelScriptRequest } from "./model-server.ts";

/** What the refund agent's model nodes see, as far as this script reads it. */
const Seen = z.looseObject({
  input: z.looseObject({
    orderId: z.string(),
    requestedAmountCents: z.number().int().optional(),
    reason: z.string().optional(),
  }),
  order: z.looseObject({ amountCents: z.number().int().optional() }).optional(),
  draft: z.looseObject({ amountCents: z.number().int().optional() }).optional(),
  refund: z.looseObject({ id: z.string().optional() }).optional(),
});
type Seen = z.infer<typeof Seen>;

/** Plays the model of the shipped refund agent: the same answer for the same prompt, every time.
 *  @throws Error for a node it does not know, or where the prompt lacks what the node needs. */
export default function refundModelScript({ schemaName, user }: ModelScriptRequest): unknown {
  switch (schemaName) {
    case "plan":
      return plan(Seen.parse(JSON.parse(user)));
    case "draft":
      return draft(Seen.parse(JSON.parse(user)));
    case "finalize":
      return finalize(Seen.parse(JSON.parse(user)));
    case undefined:
    default:
      throw new Error(
        `expected the schema plan, draft or finalize, found ${schemaName}: ask with structured outputs on`,
      );
  }
}

function plan({ input }: Seen) {
  return {
    summary: `Refund order ${input.orderId}`,
    steps: ["look up the order", "draft the refund", "have it reviewed if it is large", "refund", "tell the customer"],
  };
}

function draft({ input, order }: Seen) {
  const amountCents = input.requestedAmountCents ?? order?.amountCents;
  if (amountCents === undefined) {
    throw new Error("draft needs input.requestedAmountCents or order.amountCents, and found neither in the prompt");
  }
  const reason = refundReason(input.reason ?? "");
  return { amountCents, reason, explanation: `${dollars(amountCents)} for order ${input.orderId}, ${reason}.` };
}

function finalize({ input, draft: drafted, refund }: Seen) {
  const amount = drafted?.amountCents === undefined ? "" : ` of ${dollars(drafted.amountCents)}`;
  const reference = refund?.id === undefined ? "" : ` (reference ${refund.id})`;
  return {
    summary: `Refunded order ${input.orderId}${amount}${reference}.`,
    customerMessage: `Your refund${amount} for order ${input.orderId} is on its way${reference}.`,
  };
}

/** Stripe's three reasons; anything else is what the customer asked for. */
function refundReason(text: string): "duplicate" | "fraudulent" | "requested_by_customer" {
  if (/duplicate|twice/i.test(text)) return "duplicate";
  if (/fraud/i.test(text)) return "fraudulent";
  return "requested_by_customer";
}

function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}
