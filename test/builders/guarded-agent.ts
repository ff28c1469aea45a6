import { z } from "zod";
import type { StaleReason } from "../../shared/approval/approval.ts";
import { type Agent, byKey, days, defineAgent, definePrompt, hours, writeTool } from "../../shared/index.ts";
import { type AgentParts, planPrompt, Ticket } from "./order-agent.ts";

const Plan = z.object({ amountCents: z.number().int(), seen: z.string().optional() });
const Request = Ticket.extend({ note: z.string() });
const Receipt = z.object({ ref: z.string(), amountCents: z.number().int() });
type Route = "plan" | "review" | "end";

/** The world outside, which a test changes under a decision. */
export interface Shop {
  status: string;
  limitCents: number;
  /** Added to what is sent: an argument that changes after the decision. */
  driftCents: number;
  /** Decoration of the request: no semantic field. */
  note: string;
}

export const openShop = (): Shop => ({ status: "open", limitCents: 50_000, driftCents: 0, note: "first words" });

export interface GuardedOptions {
  readonly shop: Shop;
  readonly version?: number;
  readonly toolVersion?: number;
  readonly release?: number;
  readonly risk?: "low" | "medium" | "high";
  readonly validForDays?: number;
  readonly onReject?: Route;
  readonly onExpire?: Route;
  readonly onStale?: Route | { readonly [Reason in StaleReason]?: Route };
  /** Approved by the policy `small-orders` up to this. */
  readonly autoUpToCents?: number;
  /** What the view says of the risk. */
  readonly viewRisk?: "low" | "high";
  readonly approvers?: {
    readonly names?: readonly string[];
    readonly roles?: readonly string[];
    readonly quorum?: number;
    readonly excludeRequester?: boolean;
  };
}

/** plan → review → place. The review is bound to the shop's status and limit, and the limit is the write's precondition too. */
export const guardedAgent =
  (options: GuardedOptions) =>
  ({ placeOrder }: AgentParts): Agent => {
    const { shop } = options;
    const tool = writeTool("place_order", {
      version: options.toolVersion ?? 1,
      risk: options.risk ?? "high",
      input: Request,
      output: Receipt,
      downstream: byKey({ window: hours(24) }),
      semanticFields: ["order", "amountCents"],
      externalRef: ({ ref }) => ref,
      execute: (request, context) => placeOrder.execute(request, context),
    });
    return defineAgent("guarded-agent", { version: options.version ?? 1, input: Ticket })
      .model("plan", { prompt: definePrompt("plan", { ...planPrompt, release: options.release ?? 1 }), output: Plan })
      .approval("review", {
        of: "place",
        show: ({ plan }) => ({
          title: "Place the order",
          fields: [
            { type: "money", label: "Amount", amount_cents: plan.amountCents + shop.driftCents, currency: "eur" },
          ],
          on_approve: "It is placed once.",
          on_reject: "The agent plans again.",
          ...(options.viewRisk && { risk: options.viewRisk }),
        }),
        snapshot: async () => ({ status: shop.status, limitCents: shop.limitCents }),
        validFor: days(options.validForDays ?? 7),
        onReject: options.onReject ?? "plan",
        onExpire: options.onExpire ?? "end",
        onStale: options.onStale ?? "review",
        ...(options.autoUpToCents !== undefined && {
          autoApprove: {
            when: ({ plan }) => plan.amountCents <= (options.autoUpToCents ?? 0),
            policy: "small-orders",
          },
        }),
        ...(options.approvers && { approvers: options.approvers }),
      })
      .write("place", {
        tool,
        with: ({ input, plan }) => ({
          note: shop.note,
          order: input.order,
          amountCents: plan.amountCents + shop.driftCents,
        }),
        businessKey: ({ input }) => input.order,
        precondition: ({ amountCents }) => amountCents <= shop.limitCents || `the limit is ${shop.limitCents}`,
      })
      .end();
  };
