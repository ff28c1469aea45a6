import {
  createRefund,
  lookupOrder,
  lookupRefund,
  type Refund,
  sendMail,
} from "../../../lambdas/agents/refund-agent/tools.ts";
import { RefundTicket } from "../../../lambdas/agents/refund-agent/schemas.ts";
import { defineAgent, seconds, writeTool } from "../../../shared/index.ts";

// Every request to DynamoDB names the process that sends it, so that a test kills exactly the one it means.
process.env["AWS_SDK_UA_APP_ID"] = String(process.pid);

const timeoutMs = seconds(10);
const refundTool = { ...createRefund, timeoutMs };
/** The payments server moves money one way only: it comes back by a refund of the other leg. */
const takeBack = writeTool("take_back", {
  version: 1,
  risk: "high",
  input: createRefund.input,
  output: createRefund.output,
  timeout: timeoutMs,
  downstream: createRefund.downstream,
  semanticFields: ["paymentId", "amountCents"],
  externalRef: ({ id }: Refund) => id,
  execute: createRefund.execute,
});
const mailTool = { ...sendMail, timeoutMs };

/** Refunds, mails, and then fails for good: what it asks for is not there. Both are taken back. */
export default defineAgent("compensated-refund", { version: 1, input: RefundTicket })
  .read("order", { tool: lookupOrder, with: ({ input }) => ({ paymentId: input.paymentId }) })
  .write("refund", {
    tool: refundTool,
    with: ({ input, order }) => ({
      paymentId: order.paymentId,
      orderId: order.id,
      amountCents: input.requestedAmountCents,
      reason: "requested_by_customer" as const,
    }),
    businessKey: ({ order }) => order.id,
    compensate: {
      tool: takeBack,
      with: ({ order }, { amountCents }) => ({
        paymentId: `${order.paymentId}_back`,
        orderId: order.id,
        amountCents,
        reason: "duplicate" as const,
      }),
    },
  })
  .write("notify", {
    tool: mailTool,
    with: ({ input, refund }) => ({ to: input.customerEmail, subject: "Your refund", text: `Reference ${refund.id}.` }),
    businessKey: ({ order }) => `refund-mail/${order.id}`,
    compensate: {
      tool: mailTool,
      with: ({ input }, { messageId }) => ({
        to: input.customerEmail,
        subject: "There is no refund",
        text: `Please ignore ${messageId}.`,
      }),
    },
  })
  .read("verify", { tool: lookupRefund, with: () => ({ refundId: "re_that_is_not_there" }) })
  .end();
