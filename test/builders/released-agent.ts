import { z } from "zod";
import { type Agent, days, defineAgent, definePrompt, type Migration } from "../../shared/index.ts";
import { type AgentParts, planPrompt, Ticket } from "./order-agent.ts";

const Plan = z.object({ amountCents: z.number().int(), seen: z.string().optional() });
const Risk = z.object({ score: z.number().int() });
const Note = z.object({ text: z.string() });

export interface ReleaseOptions {
  readonly version: number;
  /** A node more, between the look-up and the question. */
  readonly riskCheck?: boolean;
  readonly migrations?: readonly Migration[];
  readonly prompt?: string;
  /** Roles that may decide. */
  readonly roles?: readonly string[];
  /** What the last node writes, which lies ahead of every question. */
  readonly note?: "text" | "archive";
}

/** plan → stock → (risk_check) → review → place → note: one workflow over its releases. */
export const releasedAgent =
  ({ version, riskCheck, migrations, prompt, roles, note = "text" }: ReleaseOptions) =>
  ({ lookUpStock, placeOrder }: AgentParts): Agent => {
    const looked = defineAgent("released-agent", { version, input: Ticket, ...(migrations && { migrations }) })
      .model("plan", {
        prompt: prompt === undefined ? planPrompt : definePrompt("plan", { ...planPrompt, text: prompt }),
        output: Plan,
      })
      .read("stock", { tool: lookUpStock, with: ({ input }) => ({ order: input.order }) });
    const checked = riskCheck
      ? looked.compute("risk_check", { output: Risk, run: ({ plan }) => ({ score: plan.amountCents % 100 }) })
      : looked;
    return checked
      .approval("review", {
        of: "place",
        show: ({ plan }) => ({
          title: "Place the order",
          fields: [{ type: "money", label: "Amount", amount_cents: plan.amountCents, currency: "eur" }],
          on_approve: "It is placed once.",
          on_reject: "The agent plans again.",
        }),
        ...(roles && { approvers: { roles } }),
        validFor: days(7),
        onReject: "plan",
        onExpire: "end",
        onStale: "review",
      })
      .write("place", {
        tool: placeOrder,
        with: ({ input, plan }) => ({ order: input.order, amountCents: plan.amountCents }),
        businessKey: ({ input }) => input.order,
      })
      .compute(note === "text" ? "note" : "archive", {
        output: Note,
        run: (state) => ({ text: Object.keys(state).sort().join(" ") }),
      })
      .end();
  };
