import { z } from "zod";
import { Refund, RefundRequest } from "../../../lambdas/agents/refund-agent/tools.ts";
import { stripeClient } from "../../../lambdas/agents/refund-agent/stripe-client.ts";
import { byKey, byQuery, days, defineAgent, hours, none, seconds, writeTool } from "../../../shared/index.ts";
import type { Downstream } from "../../../shared/agent/tool.ts";

process.env["AWS_SDK_UA_APP_ID"] = String(process.pid);

export const sides = ["by_key", "by_query", "by_nothing"] as const;
const Ticket = z.object({ paymentId: z.string(), side: z.enum([...sides, "review"]) });

/** Where an operation id is kept on the other side. */
const operationMetadata = "surefoot_operation_id";
const settle = seconds(4);

async function lookup({ paymentId }: RefundRequest, operationId: string, { signal }: { readonly signal: AbortSignal }) {
  const { data } = await stripeClient(signal).refunds.list({ payment_intent: paymentId, limit: 100 });
  const found = data.find(({ metadata }) => metadata?.[operationMetadata] === operationId);
  return found ? { found: refundOf(found) } : ("not_found" as const);
}

const refundOf = ({ id, amount, status }: { id: string; amount: number; status: string | null }): Refund => ({
  id,
  amountCents: amount,
  status: status ?? "unknown",
});

/** Only the side with keys gets one: a second request of the others would be a second refund. */
const refundTool = (side: (typeof sides)[number], downstream: Downstream<RefundRequest, Refund>) =>
  writeTool(`refund_${side}`, {
    version: 1,
    risk: "high",
    input: RefundRequest,
    output: Refund,
    timeout: seconds(5),
    downstream,
    semanticFields: ["paymentId", "amountCents"],
    externalRef: ({ id }) => id,
    resultOf: (id, { amountCents }) => ({ id, amountCents, status: "unknown" }),
    execute: async ({ paymentId, amountCents }, { idempotencyKey, signal }) =>
      refundOf(
        await stripeClient(signal).refunds.create(
          { payment_intent: paymentId, amount: amountCents, metadata: { [operationMetadata]: idempotencyKey } },
          side === "by_key" ? { idempotencyKey } : {},
        ),
      ),
  });

interface Seen {
  readonly input: z.infer<typeof Ticket>;
}
const write = (tool: ReturnType<typeof refundTool>) => ({
  tool,
  with: ({ input }: Seen): RefundRequest => ({
    paymentId: input.paymentId,
    orderId: input.paymentId,
    amountCents: 1_000,
    reason: "requested_by_customer",
  }),
  businessKey: ({ input }: Seen) => input.paymentId,
  then: "done" as const,
});

/** One refund of ten, at a side that knows keys, one that can be asked, or one that can tell nothing. */
export default defineAgent("refund-sides", { version: 1, input: Ticket })
  .route("side", { to: ["review", ...sides], choose: ({ input }) => input.side })
  .approval("review", {
    of: "by_key",
    show: ({ input }) => ({
      title: `Refund ${input.paymentId}`,
      fields: [{ type: "money", label: "Refund", amount_cents: 1_000, currency: "usd" }],
      on_approve: "It is refunded.",
      on_reject: "Nothing happens.",
    }),
    validFor: days(1),
    onReject: "done",
  })
  .write("by_key", write(refundTool("by_key", byKey({ window: hours(24), settle, lookup }))))
  .write("by_query", write(refundTool("by_query", byQuery({ settle, lookup }))))
  .write("by_nothing", write(refundTool("by_nothing", none())))
  .compute("done", { output: z.object({}), run: () => ({}) })
  .end();
