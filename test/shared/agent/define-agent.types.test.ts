import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { type ApprovalOutcome, days, defineAgent, none, type Rejection, writeTool } from "../../../shared/index.ts";
import {
  createRefundTool,
  emptyWorld,
  lookupOrderTool,
  type Order,
  Plan,
  prompt,
  Refund,
  RefundRequest,
} from "../../builders/agents.ts";

/**
 * What the compiler refuses. `npm run typecheck` holds these lines: an unused `@ts-expect-error` is an error. The definitions lie in
 * functions that are never called, so that nothing but types is looked at.
 */
const world = emptyWorld();
const start = () => defineAgent("typed", { version: 1, input: z.object({ orderId: z.string() }) });
const planned = () =>
  start()
    .model("plan", { prompt: prompt("plan"), output: Plan })
    .read("order", { tool: lookupOrderTool(world), with: ({ input }) => ({ orderId: input.orderId }) });
const refund = { tool: createRefundTool(world), with: () => ({ paymentId: "pay_1", amountCents: 1 }) };
const chargeBack = writeTool("charge_back", {
  version: 1,
  risk: "high",
  input: z.object({ refundId: z.string() }),
  output: z.object({ id: z.string() }),
  downstream: none(),
  semanticFields: ["refundId"],
  execute: async () => ({ id: "cb_1" }),
});
const shown = () => ({
  title: "t",
  fields: [{ type: "text" as const, label: "l", text: "t" }],
  on_approve: "a",
  on_reject: "r",
});
const asking = { show: shown, validFor: days(1) };

describe("an agent's types", () => {
  it("show each node the input and the outputs of the nodes before it", () => {
    void (() =>
      planned()
        .compute("sum", {
          output: z.object({ cents: z.number() }),
          run: (state) => {
            expectTypeOf(state.input).toEqualTypeOf<{ orderId: string }>();
            expectTypeOf(state.plan).toEqualTypeOf<z.infer<typeof Plan>>();
            expectTypeOf(state.order).toEqualTypeOf<z.infer<typeof Order>>();
            expectTypeOf(state.rejection).toEqualTypeOf<Rejection | undefined>();
            // @ts-expect-error -- not defined yet
            void state.sum;
            return { cents: state.order.paidCents };
          },
        })
        .approval("review", { of: "refund", ...asking, onReject: "end" })
        .write("refund", {
          tool: refund.tool,
          with: (state) => {
            expectTypeOf(state.sum).toEqualTypeOf<{ cents: number }>();
            expectTypeOf(state.review).toEqualTypeOf<ApprovalOutcome>();
            return { paymentId: state.order.paymentId, amountCents: state.sum.cents };
          },
          businessKey: (state) => {
            expectTypeOf(state.sum.cents).toBeNumber();
            return state.order.id;
          },
          precondition: (request, state) => {
            expectTypeOf(request.amountCents).toBeNumber();
            return request.amountCents <= state.order.paidCents || "more than was paid";
          },
        }));
  });

  it("refuse a request that the tool does not take", () => {
    void (() =>
      start().read("order", {
        tool: lookupOrderTool(world),
        // @ts-expect-error -- the tool wants a text
        with: () => ({ orderId: 7 }),
      }));
    void (() =>
      start().read("order", {
        tool: lookupOrderTool(world),
        // @ts-expect-error -- the tool wants orderId
        with: ({ input }) => ({ order: input.orderId }),
      }));
    void (() =>
      planned().write("refund", {
        tool: refund.tool,
        // @ts-expect-error -- no amount
        with: ({ order }) => ({ paymentId: order.paymentId }),
      }));
    void (() =>
      planned().write("refund", {
        ...refund,
        // @ts-expect-error -- a key is a text
        businessKey: ({ order }) => order.paidCents,
      }));
    void (() =>
      planned().write("refund", {
        ...refund,
        // @ts-expect-error -- false does not say why not
        precondition: () => false,
      }));
    void (() =>
      planned().write("refund", {
        ...refund,
        // @ts-expect-error -- a read tool writes nothing
        tool: lookupOrderTool(world),
      }));
    void (() =>
      planned().read("refund", {
        ...refund,
        // @ts-expect-error -- a write tool is never called as a read
        tool: refund.tool,
      }));
    void (() =>
      start().compute("sum", {
        output: z.object({ cents: z.number() }),
        // @ts-expect-error -- the output says number
        run: () => ({ cents: "7" }),
      }));
  });

  it("let a compensation see what its write saw and what that came to, and ask only what its tool takes", () => {
    void (() =>
      planned().write("refund", {
        ...refund,
        compensate: {
          tool: chargeBack,
          with: (state, result) => {
            expectTypeOf(state.order).toEqualTypeOf<z.infer<typeof Order>>();
            expectTypeOf(result).toEqualTypeOf<z.infer<typeof Refund>>();
            // @ts-expect-error -- its own result is not part of what it saw
            void state.refund;
            return { refundId: result.id };
          },
        },
      }));
    void (() =>
      planned().write("refund", {
        ...refund,
        // @ts-expect-error -- the tool wants refundId
        compensate: { tool: chargeBack, with: (_state, { id }) => ({ id }) },
      }));
    void (() =>
      planned().write("refund", {
        ...refund,
        // @ts-expect-error -- a typo
        compensate: { tool: chargeBack, with: (_state, { idd }) => ({ refundId: String(idd) }) },
      }));
    void (() =>
      planned().write("refund", {
        ...refund,
        // @ts-expect-error -- a read tool undoes nothing
        compensate: { tool: lookupOrderTool(world), with: () => ({ orderId: "ORD-1" }) },
      }));
    void (() =>
      planned().read("again", {
        tool: lookupOrderTool(world),
        with: ({ input }) => ({ orderId: input.orderId }),
        // @ts-expect-error -- there is nothing to undo about a read
        compensate: { tool: chargeBack, with: () => ({ refundId: "re_1" }) },
      }));
  });

  it("refuse to look at a node that is not there", () => {
    void (() =>
      start().read("order", {
        tool: lookupOrderTool(world),
        // @ts-expect-error -- a typo
        with: ({ inputt }) => ({ orderId: String(inputt) }),
      }));
    void (() =>
      planned().compute("sum", {
        output: z.object({}),
        // @ts-expect-error -- a typo
        run: ({ ordr }) => ({ ordr }),
      }));
  });

  it("refuse a name that is taken or reserved", () => {
    // @ts-expect-error -- plan is taken
    void (() => planned().model("plan", { prompt: prompt("again"), output: Plan }));
    // @ts-expect-error -- order is taken, by a node of another kind
    void (() => planned().write("order", refund));
    // @ts-expect-error -- order is taken
    void (() => planned().route("order", { to: ["end"], choose: () => "end" }));
    // @ts-expect-error -- input is what the caller gave
    void (() => start().write("input", refund));
    // @ts-expect-error -- rejection is who turned the last attempt back
    void (() => start().write("rejection", refund));
    // @ts-expect-error -- end is where runs end
    void (() => start().write("end", refund));
  });

  it("refuse to end while something leads to a node that is not there", () => {
    const review = { of: "refund", ...asking, onReject: "plan" } as const;
    const wrongOf = () =>
      planned()
        .approval("review", { ...review, of: "refnd" })
        .write("refund", refund);
    // @ts-expect-error -- refnd
    void (() => wrongOf().end());
    const wrongReject = () =>
      planned()
        .approval("review", { ...review, onReject: "pln" })
        .write("refund", refund);
    // @ts-expect-error -- pln
    void (() => wrongReject().end());
    const wrongExpire = () =>
      planned()
        .approval("review", { ...review, onExpire: "ned" })
        .write("refund", refund);
    // @ts-expect-error -- ned
    void (() => wrongExpire().end());
    const wrongStale = () =>
      planned()
        .approval("review", { ...review, onStale: "orderr" })
        .write("refund", refund);
    // @ts-expect-error -- orderr
    void (() => wrongStale().end());
    const wrongThen = () => planned().write("refund", { ...refund, then: "pLan" });
    // @ts-expect-error -- pLan
    void (() => wrongThen().end());
    const wrongRoute = () => planned().route("where", { to: ["plan", "ennd"], choose: () => "plan" });
    // @ts-expect-error -- ennd
    void (() => wrongRoute().end());
    const right = () =>
      planned()
        .approval("review", { ...review, onExpire: "end", onStale: "order" })
        .write("refund", { ...refund, then: "where" })
        .route("where", { to: ["plan", "end"], choose: () => "plan" });
    void (() => right().end());
  });

  it("refuse a choice that is no declared target", () => {
    void (() =>
      planned().route("where", {
        to: ["plan", "end"],
        // @ts-expect-error -- order is not among the targets
        choose: () => "order",
      }));
  });

  it("refuse semantic fields that the request does not have", () => {
    const options = {
      version: 1,
      risk: "high" as const,
      input: RefundRequest,
      output: Refund,
      downstream: none(),
      execute: async () => ({ id: "re_1", amountCents: 1 }),
    };
    void (() => writeTool("r", { ...options, semanticFields: ["amountCents"] }));
    // @ts-expect-error -- a typo
    void (() => writeTool("r", { ...options, semanticFields: ["amountCent"] }));
  });
});
