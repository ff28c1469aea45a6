import { z } from "zod";
import { type Agent, byKey, days, defineAgent, definePrompt, hours, readTool, writeTool } from "../../shared/index.ts";
import type { Downstream } from "./downstream.ts";
import type { Life } from "./life.ts";

export const Ticket = z.object({ order: z.string(), amountCents: z.number().int() });
const Plan = z.object({ amountCents: z.number().int(), seen: z.string().optional() });
const Stock = z.object({ pieces: z.number().int() });
const Receipt = z.object({ ref: z.string(), amountCents: z.number().int() });
const Tally = z.object({ text: z.string() });

/** Above this a person is asked. */
export const reviewAboveCents = 5_000;
export interface OrderAgentOptions {
  readonly precondition?: () => true | string;
  readonly onReject?: "plan" | "end";
  readonly stepsMax?: number;
}

/** What an agent of a world is made of. */
export type AgentParts = ReturnType<typeof partsOf>;

export function partsOf(life: () => Life, downstream: Downstream, reads: string[]) {
  const lookUpStock = readTool("look_up_stock", {
    version: 1,
    input: z.object({ order: z.string() }),
    output: Stock,
    execute: ({ order }) =>
      life().pass("read.execute", async () => {
        reads.push(order);
        return { pieces: 3 };
      }),
  });
  const placeOrder = writeTool("place_order", {
    version: 1,
    risk: "high",
    input: Ticket,
    output: Receipt,
    downstream: byKey({ window: hours(24) }),
    semanticFields: ["order", "amountCents"],
    externalRef: ({ ref }) => ref,
    execute: (request, { idempotencyKey, signal }) =>
      life().pass("tool.execute", () => downstream.call(request, idempotencyKey, signal)) as Promise<never>,
  });
  return { lookUpStock, placeOrder };
}

export const planPrompt = definePrompt<{ input: z.infer<typeof Ticket>; rejection?: unknown }>("plan", {
  release: 1,
  text: "Plan the order.",
  data: ({ input, rejection }) => ({ amountCents: input.amountCents, rejection: rejection ?? null }),
});

/** plan → stock → review (above a limit) → place → tally. Two lines: one up to the review, one after it. */
export const orderAgent = ({ lookUpStock, placeOrder }: AgentParts, options: OrderAgentOptions = {}): Agent =>
  defineAgent("order-agent", {
    version: 1,
    input: Ticket,
    ...(options.stepsMax !== undefined && { stepsMax: options.stepsMax }),
  })
    .model("plan", { prompt: planPrompt, output: Plan })
    .read("stock", { tool: lookUpStock, with: ({ input }) => ({ order: input.order }) })
    .approval("review", {
      of: "place",
      when: ({ plan }) => plan.amountCents > reviewAboveCents,
      show: ({ plan }) => ({
        title: "Place the order",
        fields: [{ type: "money", label: "Amount", amount_cents: plan.amountCents, currency: "eur" }],
        on_approve: "It is placed once.",
        on_reject: "The agent plans again.",
      }),
      validFor: days(7),
      onReject: options.onReject ?? "plan",
      onExpire: "end",
      onStale: "plan",
    })
    .write("place", {
      tool: placeOrder,
      with: ({ input, plan }) => ({ order: input.order, amountCents: plan.amountCents }),
      businessKey: ({ input }) => input.order,
      ...(options.precondition && { precondition: options.precondition }),
    })
    .compute("tally", { output: Tally, run: ({ place, stock }) => ({ text: `${place.ref}/${stock.pieces}` }) })
    .end();
