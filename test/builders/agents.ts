import { z } from "zod";
import {
  byKey,
  byQuery,
  type Agent,
  days,
  defineAgent,
  definePrompt,
  type Downstream,
  hours,
  minutes,
  none,
  readTool,
  type ReadTool,
  writeTool,
  type WriteTool,
} from "../../shared/index.ts";

/** Small agents over an outside world in memory. The judge of every effect is the world, never a log. */

export const RefundTicket = z.object({ orderId: z.string(), complaint: z.string() });
export const Plan = z.object({ steps: z.array(z.string()) });
export const Order = z.object({ id: z.string(), paymentId: z.string(), paidCents: z.number().int() });
export const Draft = z.object({ amountCents: z.number().int(), reason: z.string() });
export const Summary = z.object({ text: z.string() });
export const RefundRequest = z.object({
  paymentId: z.string(),
  amountCents: z.number().int().positive(),
  /** Decoration: no semantic field. */
  note: z.string().optional(),
});
export const Refund = z.object({ id: z.string(), amountCents: z.number().int() });
export const Mail = z.object({ to: z.string(), subject: z.string() });
export const MailReceipt = z.object({ messageId: z.string() });

export type RefundRequest = z.infer<typeof RefundRequest>;
export type Refund = z.infer<typeof Refund>;
export type Mail = z.infer<typeof Mail>;

/** What reached the outside, in order. `key` is the idempotency key it came with. */
export interface World {
  readonly refunds: { readonly key: string; readonly request: RefundRequest; readonly refund: Refund }[];
  readonly mails: { readonly key: string; readonly mail: Mail }[];
  readonly orderReads: string[];
}

export const emptyWorld = (): World => ({ refunds: [], mails: [], orderReads: [] });

/** What a payments service can tell afterwards: a key, a query, or nothing. */
export const refundsByKey = (): Downstream<RefundRequest, Refund> => byKey({ window: hours(24) });
export const refundsByQuery = (world: World): Downstream<RefundRequest, Refund> =>
  byQuery({
    settle: minutes(2),
    lookup: async (_request: RefundRequest, operationId) => {
      const found = world.refunds.find((entry) => entry.key === operationId);
      return found ? { found: found.refund } : "not_found";
    },
  });
export const refundsByNothing = (): Downstream<RefundRequest, Refund> => none();

/** A payments service without memory for keys: called twice, it refunds twice. */
export const createRefundTool = (
  world: World,
  downstream: Downstream<RefundRequest, Refund> = refundsByKey(),
  changed: { readonly attempts?: number; readonly version?: number } = {},
): WriteTool<RefundRequest, Refund> =>
  writeTool("create_refund", {
    version: changed.version ?? 3,
    risk: "high",
    input: RefundRequest,
    output: Refund,
    downstream,
    semanticFields: ["paymentId", "amountCents"],
    externalRef: (refund) => refund.id,
    ...(changed.attempts !== undefined && { attempts: changed.attempts }),
    execute: async (request, { idempotencyKey }) => {
      const refund = { id: `re_${world.refunds.length + 1}`, amountCents: request.amountCents };
      world.refunds.push({ key: idempotencyKey, request, refund });
      return refund;
    },
  });

export const sendMailTool = (world: World): WriteTool<Mail, z.infer<typeof MailReceipt>> =>
  writeTool("send_mail", {
    version: 1,
    risk: "low",
    input: Mail,
    output: MailReceipt,
    downstream: none(),
    semanticFields: ["to", "subject"],
    externalRef: (receipt) => receipt.messageId,
    execute: async (mail, { idempotencyKey }) => {
      world.mails.push({ key: idempotencyKey, mail });
      return { messageId: `<${world.mails.length}@example.test>` };
    },
  });

export const lookupOrderTool = (world: World): ReadTool<{ orderId: string }, z.infer<typeof Order>> =>
  readTool("lookup_order", {
    version: 1,
    input: z.object({ orderId: z.string() }),
    output: Order,
    execute: async ({ orderId }) => {
      world.orderReads.push(orderId);
      return { id: orderId, paymentId: `pay_${orderId}`, paidCents: 12_500 };
    },
  });

export const lookupRefundTool = (world: World): ReadTool<{ id: string }, Refund> =>
  readTool("lookup_refund", {
    version: 1,
    input: z.object({ id: z.string() }),
    output: Refund,
    execute: async ({ id }) => {
      const found = world.refunds.find((entry) => entry.refund.id === id);
      if (!found) throw Object.assign(new Error(`no refund ${id}`), { status: 404 });
      return found.refund;
    },
  });

export const prompt = <State>(name: string, text = `Write the ${name}.`) =>
  definePrompt<State>(name, { release: 1, text, data: (state) => state });

/** The refund agent: plan, order, draft, a review above 50.00, refund, notify, verify, finalize. Starts with a model. */
export const refundAgent = (world: World, downstream: Downstream<RefundRequest, Refund> = refundsByKey()): Agent =>
  defineAgent("refund-agent", { version: 1, input: RefundTicket })
    .model("plan", { prompt: prompt("plan"), output: Plan })
    .read("order", { tool: lookupOrderTool(world), with: ({ input }) => ({ orderId: input.orderId }) })
    .model("draft", { prompt: prompt("draft"), output: Draft })
    .approval("review", {
      of: "refund",
      when: ({ draft }) => draft.amountCents > 5_000,
      show: ({ draft, order }) => ({
        title: `Refund for ${order.id}`,
        fields: [{ type: "money", label: "Amount", amount_cents: draft.amountCents, currency: "EUR" }],
        reason: draft.reason,
        on_approve: "The money is sent.",
        on_reject: "The agent plans again.",
      }),
      validFor: days(7),
      onReject: "plan",
    })
    .write("refund", {
      tool: createRefundTool(world, downstream),
      with: ({ order, draft }) => ({ paymentId: order.paymentId, amountCents: draft.amountCents, note: draft.reason }),
      businessKey: ({ order }) => order.id,
      precondition: (request, { order }) => request.amountCents <= order.paidCents || "more than was paid",
    })
    .write("notify", {
      tool: sendMailTool(world),
      with: ({ order }) => ({ to: "customer@example.test", subject: `Refund for ${order.id}` }),
      businessKey: ({ order }) => `refund-mail/${order.id}`,
    })
    .read("verify", { tool: lookupRefundTool(world), with: ({ refund }) => ({ id: refund.id }) })
    .model("finalize", { prompt: prompt("summary"), output: Summary })
    .end();

/** No model: an order is read, a route refunds small ones at once and asks for large ones, a rejection ends the run. */
export const routedAgent = (world: World): Agent =>
  defineAgent("routed-agent", { version: 1, input: z.object({ orderId: z.string(), amountCents: z.number().int() }) })
    .read("order", { tool: lookupOrderTool(world), with: ({ input }) => ({ orderId: input.orderId }) })
    .route("size", {
      to: ["review", "refund"],
      choose: ({ input }) => (input.amountCents > 5_000 ? "review" : "refund"),
    })
    .approval("review", {
      of: "refund",
      show: ({ input }) => view(input.amountCents),
      validFor: days(1),
      onReject: "end",
    })
    .write("refund", {
      tool: createRefundTool(world, refundsByQuery(world)),
      with: ({ order, input }) => ({ paymentId: order.paymentId, amountCents: input.amountCents }),
      businessKey: ({ order }) => order.id,
    })
    .end();

/** The smallest guarded write: it asks first, then refunds. A rejection ends the run. Its key is the digest of the semantic fields. */
export const approvalFirstAgent = (world: World): Agent =>
  defineAgent("approval-first-agent", { version: 1, input: RefundRequest })
    .approval("review", {
      of: "refund",
      show: ({ input }) => view(input.amountCents),
      validFor: days(1),
      onReject: "end",
    })
    .write("refund", { tool: createRefundTool(world), with: ({ input }) => input })
    .end();

const view = (amountCents: number) => ({
  title: "Refund",
  fields: [{ type: "money" as const, label: "Amount", amount_cents: amountCents, currency: "EUR" }],
  on_approve: "The money is sent.",
  on_reject: "Nothing happens.",
});
