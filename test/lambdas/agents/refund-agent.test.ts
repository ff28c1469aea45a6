import { describe, expect, test } from "vitest";
import refundAgent, { reviewAboveCents } from "../../../lambdas/agents/refund-agent/agent.ts";
import { compileAgent } from "../../../shared/index.ts";
import { nodeOf } from "../../../shared/agent/agent.ts";
import type { ApprovalNode, ReadNode, WriteNode } from "../../../shared/agent/node.ts";

const node = <Node>(name: string): Node => nodeOf(refundAgent, name) as Node;

/** What the nodes see once everything up to the mail has run. */
const state = (amountCents = 6_000) => ({
  input: {
    orderId: "ORD-1",
    paymentId: "pi_from_the_ticket",
    requestedAmountCents: 6_000,
    customerEmail: "customer@example.com",
    message: "It broke.",
  },
  plan: { summary: "Refund it.", steps: [] },
  order: { id: "ORD-9", paymentId: "pi_9", amountCents: 12_000, refundedCents: 500, currency: "usd" },
  draft: { amountCents, reason: "duplicate", explanation: "Paid twice." },
  refund: { id: "re_1", amountCents, status: "succeeded" },
});

describe("the contract of the shipped agent", () => {
  test("is these nodes in this order, with these ways between them", () => {
    const { manifest } = compileAgent(refundAgent);

    expect(manifest).toMatchObject({
      workflow_name: "refund-agent",
      workflow_version: 1,
      checkpoint_schema_version: 1,
    });
    expect(manifest.nodes.map(({ name, kind, leads_to }) => `${name} (${kind}) → ${leads_to.join(", ")}`)).toEqual([
      "plan (model) → order",
      "order (read) → draft",
      "draft (model) → review",
      "review (approval) → refund, plan, end",
      "refund (write) → notify",
      "notify (write) → verify",
      "verify (read) → finalize",
      "finalize (model) → end",
    ]);
    expect(manifest.tools.map(({ name, version }) => `${name}@${version}`)).toEqual([
      "create_refund@1",
      "lookup_order@1",
      "lookup_refund@1",
      "send_mail@1",
    ]);
    expect(manifest.prompts.map(({ name, release }) => `${name}@${release}`)).toEqual([
      "draft@1",
      "finalize@1",
      "plan@1",
    ]);
  });

  test("is two straight lines around one wait, which begin at the plan", () => {
    const compiled = compileAgent(refundAgent);

    expect(compiled.entry).toBe("plan");
    expect(compiled.lines.map(({ nodes }) => nodes)).toEqual([
      ["plan", "order", "draft", "review"],
      ["refund", "notify", "verify", "finalize"],
    ]);
  });

  test("a refund may be repeated under its key for a day, a mail never: it goes through the queue", () => {
    const refund = node<WriteNode>("refund").tool;
    const mail = node<WriteNode>("notify").tool;

    expect(refund.downstream).toMatchObject({ by: "key", windowMs: 86_400_000, settleMs: 60_000 });
    expect(refund).toMatchObject({ risk: "high", semanticFields: ["paymentId", "amountCents"], scope: "run" });
    const byOneWorker = { by: "none", delivery: "queue" };
    expect(mail).toMatchObject({ downstream: byOneWorker, semanticFields: ["to", "subject", "text"] });
  });
});

describe("the review", () => {
  const review = () => node<ApprovalNode>("review");

  test.each([
    [1, false],
    [4_999, false],
    [5_000, false],
    [5_001, true],
    [1_000_000, true],
  ])("of %i cents is asked for: %s", (amountCents, asked) => {
    expect(reviewAboveCents).toBe(5_000);
    expect(review().when?.(state(amountCents))).toBe(asked);
  });

  test("is of the refund, holds for seven days, and goes back to the plan with a no", () => {
    expect(review()).toMatchObject({ of: "refund", validForMs: 604_800_000, onReject: "plan", onExpire: "end" });
  });

  test("shows the money from the order and the draft, and the model's own words apart from it", () => {
    expect(review().show(state())).toEqual({
      title: "Refund for order ORD-9",
      fields: [
        { type: "money", label: "Refund", amount_cents: 6_000, currency: "usd" },
        { type: "money", label: "Paid", amount_cents: 12_000, currency: "usd" },
        { type: "money", label: "Refunded before", amount_cents: 500, currency: "usd" },
        { type: "text", label: "Payment", text: "pi_9" },
      ],
      reason: "Paid twice.",
      on_approve: "The refund is sent to the payment provider once, and the customer gets a mail.",
      on_reject: "Nothing is sent; the agent plans again with your comment.",
    });
  });
});

describe("what is sent", () => {
  test("the refund is of the payment that the provider knows, in the amount that was drafted", () => {
    expect(node<WriteNode>("refund").request(state())).toEqual({
      paymentId: "pi_9",
      orderId: "ORD-9",
      amountCents: 6_000,
      reason: "duplicate",
    });
    expect(node<WriteNode>("refund").businessKey?.(state())).toBe("ORD-9");
  });

  test("the mail goes to the customer of the ticket and names the refund as it was made", () => {
    expect(node<WriteNode>("notify").request(state())).toEqual({
      to: "customer@example.com",
      subject: "Your refund for order ORD-9",
      text: "We refunded 60.00 USD (reference re_1).",
    });
    expect(node<WriteNode>("notify").businessKey?.(state())).toBe("refund-mail/ORD-9");
  });

  test("the order is looked up by the ticket's payment, the refund by its own id", () => {
    expect(node<ReadNode>("order").request(state())).toEqual({ paymentId: "pi_from_the_ticket" });
    expect(node<ReadNode>("verify").request(state())).toEqual({ refundId: "re_1" });
  });

  test.each([
    [{ amountCents: 0 }, /amountCents/],
    [{ amountCents: -5 }, /amountCents/],
    [{ amountCents: 0.5 }, /amountCents/],
    [{ reason: "because" }, /reason/],
  ])("a drafted refund with %o fits no request", (over, place) => {
    const request = { paymentId: "pi_9", orderId: "ORD-9", amountCents: 1, reason: "duplicate", ...over };
    const parsed = node<WriteNode>("refund").tool.input.safeParse(request);

    expect(parsed.error?.message).toMatch(place);
  });
});
