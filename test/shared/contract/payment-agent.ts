import { z } from "zod";
import {
  type Agent,
  byKey,
  days,
  defineAgent,
  definePrompt,
  hours,
  none,
  readTool,
  writeTool,
} from "../../../shared/index.ts";

/** The story of the seed: planner → lookup → approval → payment → notify, in parts that a test changes one by one. */

export const Ticket = z.object({ order: z.string(), amountCents: z.number().int() });
export const Plan = z.object({ amountCents: z.number().int(), why: z.string() });
export const Order = z.object({ id: z.string(), paidCents: z.number().int() });
export const PaymentRequest = z.object({
  order: z.string(),
  amountCents: z.number().int(),
  note: z.string().optional(),
});
export const Receipt = z.object({ ref: z.string() });
export const Mail = z.object({ to: z.string(), text: z.string() });

export const plannerPrompt = (over: { readonly release?: number; readonly text?: string } = {}) =>
  definePrompt("planner", { release: 1, text: "Plan the payment.", data: (state: object) => state, ...over });

export const lookupTool = (over: object = {}) =>
  readTool("lookup_order", {
    version: 1,
    input: z.object({ id: z.string() }),
    output: Order,
    execute: async ({ id }) => ({ id, paidCents: 9_000 }),
    ...over,
  });

export const paymentTool = (over: object = {}) =>
  writeTool("pay", {
    version: 3,
    risk: "high",
    input: PaymentRequest,
    output: Receipt,
    downstream: byKey({ window: hours(24) }),
    semanticFields: ["order", "amountCents"],
    externalRef: ({ ref }) => ref,
    execute: async () => ({ ref: "pay_1" }),
    ...over,
  });

export const mailTool = (over: object = {}) =>
  writeTool("send_mail", {
    version: 1,
    risk: "low",
    input: Mail,
    output: z.object({ id: z.string() }),
    downstream: none(),
    semanticFields: ["to"],
    execute: async () => ({ id: "m-1" }),
    ...over,
  });

/** Parts of the agent. `undefined` keeps a part as it is. */
export interface Parts {
  readonly name?: string;
  readonly version?: number;
  readonly options?: object;
  readonly input?: z.ZodType;
  readonly planner?: object;
  readonly lookup?: object;
  readonly approval?: object;
  readonly payment?: object;
  readonly notify?: object;
  /** Nodes to put in before the named one. */
  readonly before?: Readonly<Record<string, (builder: Builder) => Builder>>;
  /** Nodes to leave out. */
  readonly without?: readonly string[];
}

/** The builder as plain JavaScript sees it: its types would forbid half of what must be caught. */
export interface Builder {
  model(name: string, spec: object): Builder;
  read(name: string, spec: object): Builder;
  write(name: string, spec: object): Builder;
  approval(name: string, spec: object): Builder;
  compute(name: string, spec: object): Builder;
  end(): Agent;
}

export const riskCheck = (builder: Builder): Builder =>
  builder.compute("risk_check", { output: z.object({ risk: z.number() }), run: () => ({ risk: 0 }) });

export const note = (builder: Builder): Builder =>
  builder.compute("note", { output: z.object({ n: z.number() }), run: () => ({ n: 1 }) });
export const second = (builder: Builder): Builder =>
  builder.write("second", { tool: paymentTool(), with: () => ({ order: "o-1", amountCents: 1 }) });

export function paymentAgent(parts: Parts = {}): Agent {
  const { name = "shop", version = 7, input = Ticket, options = {}, before = {}, without = ["nothing"] } = parts;
  const nodes: Readonly<Record<string, (builder: Builder) => Builder>> = {
    planner: (b) => b.model("planner", { prompt: plannerPrompt(), output: Plan, ...parts.planner }),
    lookup: (b) => b.read("lookup", { tool: lookupTool(), with: () => ({ id: "o-1" }), ...parts.lookup }),
    approval: (b) =>
      b.approval("approval", {
        of: "payment",
        show: () => ({
          title: "Pay",
          fields: [{ type: "money", label: "Amount", amount_cents: 100, currency: "EUR" }],
          on_approve: "It is paid.",
          on_reject: "It is planned again.",
        }),
        validFor: days(7),
        onReject: "planner",
        onExpire: "end",
        ...parts.approval,
      }),
    payment: (b) =>
      b.write("payment", {
        tool: paymentTool(),
        with: () => ({ order: "o-1", amountCents: 100 }),
        businessKey: () => "o-1",
        ...parts.payment,
      }),
    notify: (b) =>
      b.write("notify", {
        tool: mailTool(),
        with: () => ({ to: "a@example.com", text: "Paid." }),
        businessKey: () => "mail/o-1",
        ...parts.notify,
      }),
    // Where a test puts something behind the last node.
    end: (b) => b,
  };
  let builder = defineAgent(name, { version, input, ...options }) as unknown as Builder;
  for (const [node, add] of Object.entries(nodes)) {
    if (before[node]) builder = before[node](builder);
    if (!without.includes(node)) builder = add(builder);
  }
  return builder.end();
}
