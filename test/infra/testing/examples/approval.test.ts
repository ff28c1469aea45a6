import { describe, expect, it } from "vitest";
import { z } from "zod";
import { byKey, days, defineAgent, definePrompt, hours, readTool, writeTool } from "../../../../shared/index.ts";
import { double, type ModelAsked, testAgent } from "../../../../infra/testing/index.ts";

// An agent as you would write it. Its tools reach real services; nothing of them is called here.
const Ticket = z.object({ orderId: z.string(), message: z.string() });
const Order = z.object({ id: z.string(), paidCents: z.number().int() });
const Draft = z.object({ amountCents: z.number().int() });
const Refund = z.object({ id: z.string() });
const RefundRequest = z.object({ orderId: z.string(), amountCents: z.number().int() });

const unreachable = () => Promise.reject(new Error("this test never goes out"));
const lookupOrder = readTool("lookup_order", {
  version: 1,
  input: z.object({ orderId: z.string() }),
  output: Order,
  execute: unreachable,
});
const createRefund = writeTool("create_refund", {
  version: 1,
  risk: "high",
  input: RefundRequest,
  output: Refund,
  downstream: byKey({ window: hours(24) }),
  semanticFields: ["orderId", "amountCents"],
  execute: unreachable,
});
const agent = defineAgent("refunds", { version: 1, input: Ticket })
  .read("order", { tool: lookupOrder, with: ({ input }) => ({ orderId: input.orderId }) })
  .model("draft", {
    prompt: definePrompt("draft", { release: 1, text: "Draft the refund.", data: (state) => state }),
    output: Draft,
  })
  .approval("review", {
    of: "refund",
    show: ({ draft }) => ({
      title: "Refund",
      fields: [{ type: "money", label: "Amount", amount_cents: draft.amountCents, currency: "EUR" }],
      on_approve: "The money is sent.",
      on_reject: "The agent drafts again.",
    }),
    validFor: days(7),
    onReject: "draft",
    onExpire: "end",
  })
  .write("refund", {
    tool: createRefund,
    with: ({ order, draft }) => ({ orderId: order.id, amountCents: draft.amountCents }),
    businessKey: ({ order }) => order.id,
  })
  .end();

/** The agent in a world of its own: the model asks for all that was paid, and for half of it once somebody said no. */
const refunds = () =>
  testAgent(agent, {
    models: {
      draft: ({ data }: ModelAsked<{ rejection?: unknown }>) => ({ amountCents: data.rejection ? 4_500 : 9_000 }),
    },
    tools: {
      lookup_order: ({ orderId }: { orderId: string }) => ({ id: orderId, paidCents: 9_000 }),
      create_refund: double.key({ window: hours(24), result: (_request, { n }) => ({ id: `re_${n}` }) }),
    },
  });
const ticket = { orderId: "ORD-1", message: "It arrived broken." };

describe("a refund that a person approves", () => {
  it("is sent once, days later, and not before", async () => {
    const world = await refunds();
    const run = await world.start(ticket);
    await run.untilWaiting("review");
    await world.skip(days(5));
    expect(world.effects()).toEqual([]);

    await run.approve("review", { by: "kim" });
    expect(await run.untilEnd()).toMatchObject({ status: "SUCCEEDED", state: { refund: { id: "re_1" } } });
    expect(world.effects("create_refund", "ORD-1")).toMatchObject([{ request: { amountCents: 9_000 } }]);
  });

  it("is the one that was approved, after a first draft was turned down", async () => {
    const world = await refunds();
    const run = await world.start(ticket);
    await run.reject("review", { by: "kim", comment: "half is enough" });
    await run.approve("review", { by: "kim" });
    await run.untilEnd();

    expect(world.asked("draft")).toHaveLength(2);
    expect(world.effects("create_refund")).toMatchObject([{ request: { amountCents: 4_500 } }]);
  });

  it("is never sent when nobody answers in time", async () => {
    const world = await refunds();
    const run = await world.start(ticket);
    await run.untilWaiting("review");
    await world.skip(days(8));

    expect(await run.untilEnd()).toMatchObject({ status: "SUCCEEDED", outcome: "expired" });
    expect(world.effects()).toEqual([]);
  });
});
