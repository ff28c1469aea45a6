import { Draft, Plan, RefundTicket } from "../../../lambdas/agents/refund-agent/schemas.ts";
import { draftPrompt, planPrompt } from "../../../lambdas/agents/refund-agent/prompts.ts";
import { createRefund, lookupOrder } from "../../../lambdas/agents/refund-agent/tools.ts";
import { defineAgent, seconds } from "../../../shared/index.ts";

process.env["AWS_SDK_UA_APP_ID"] = String(process.pid);

const timeout = seconds(10);

/** Drafts and refunds again and again for one order: whatever another draft says, it is the same business act. */
export default defineAgent("insistent-refund", { version: 1, input: RefundTicket })
  .model("plan", { prompt: planPrompt, output: Plan, timeout })
  .read("order", { tool: lookupOrder, with: ({ input }) => ({ paymentId: input.paymentId }) })
  .model("draft", { prompt: draftPrompt, output: Draft, timeout })
  .write("refund", {
    tool: createRefund,
    with: ({ order, draft }) => ({
      paymentId: order.paymentId,
      orderId: order.id,
      amountCents: draft.amountCents,
      reason: draft.reason,
    }),
    businessKey: ({ order }) => order.id,
  })
  .route("again", { to: ["draft", "end"], choose: () => "draft" })
  .end();
