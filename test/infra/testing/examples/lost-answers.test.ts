import { describe, expect, it } from "vitest";
import { z } from "zod";
import { byKey, defineAgent, hours, minutes, none, writeTool } from "../../../../shared/index.ts";
import { at, double, testAgent } from "../../../../infra/testing/index.ts";

const Order = z.object({ orderId: z.string(), cents: z.number().int() });
const unreachable = () => Promise.reject(new Error("this test never goes out"));

/** Charges through a provider that knows keys, then tells the shop by a text message, which nobody can take back or look up. */
const charge = writeTool("charge", {
  version: 1,
  risk: "high",
  input: Order,
  output: z.object({ chargeId: z.string() }),
  downstream: byKey({ window: hours(24) }),
  semanticFields: ["orderId", "cents"],
  execute: unreachable,
});
const text = writeTool("text_shop", {
  version: 1,
  risk: "low",
  input: z.object({ orderId: z.string() }),
  output: z.object({ sid: z.string() }),
  downstream: none(),
  semanticFields: ["orderId"],
  externalRef: ({ sid }) => sid,
  resultOf: (sid) => ({ sid }),
  execute: unreachable,
});
const agent = defineAgent("checkout", { version: 1, input: Order })
  .write("pay", { tool: charge, with: ({ input }) => input, businessKey: ({ input }) => input.orderId })
  .write("tell", {
    tool: text,
    with: ({ input }) => ({ orderId: input.orderId }),
    businessKey: ({ input }) => input.orderId,
  })
  .end();

const checkout = (seed = 1) =>
  testAgent(agent, {
    seed,
    tools: {
      charge: double.key({ window: hours(24), result: (_order, { n }) => ({ chargeId: `ch_${n}` }) }),
      text_shop: double.none({ result: (_order, { n }) => ({ sid: `SM${n}` }) }),
    },
  });
const order = { orderId: "ORD-1", cents: 4_200 };

describe("an answer that gets lost", () => {
  it("charges once where the provider knows our key", async () => {
    const world = await checkout();
    world.fault(at.tool("charge"), "lost_ack");
    const run = await world.start(order);

    expect(await run.untilEnd()).toMatchObject({ status: "SUCCEEDED" });
    expect(world.requests("charge")).toHaveLength(2);
    expect(world.effects("charge")).toHaveLength(1);
  });

  it("is a person's to look at where nobody can be asked, and the text goes out once", async () => {
    const world = await checkout();
    world.fault(at.tool("text_shop"), "lost_ack");
    const run = await world.start(order);
    expect(await run.untilParked()).toMatchObject({ node: "tell", error: { code: "operation_unknown" } });

    await run.resolve("tell", { outcome: "succeeded", externalRef: "SM1", by: "kim" });
    expect(await run.untilEnd()).toMatchObject({ status: "SUCCEEDED" });
    expect(world.effects("text_shop")).toHaveLength(1);
    expect(world.metric("side_effect_unknown_total")).toBe(1);
  });

  it("charges once when the process dies at any point of it", async () => {
    const points = [at.ledger("STARTED"), at.tool("charge"), at.ledger("SUCCEEDED"), at.step("pay")];
    for (const point of points) {
      for (const crash of ["crash_before", "crash_after"] as const) {
        const world = await checkout();
        world.fault(point, crash);
        const run = await world.start(order);
        expect(await run.untilEnd()).toMatchObject({ status: "SUCCEEDED" });
        expect(world.effects("charge", "ORD-1")).toHaveLength(1);
      }
    }
  });

  it("is waited for no longer than the tool may take", async () => {
    const world = await checkout();
    world.fault(at.tool("charge"), { kind: "late_commit", ms: minutes(1) });
    const run = await world.start(order);
    await run.untilEnd();
    await world.skip(minutes(2));
    expect(world.effects("charge")).toHaveLength(1);
  });
});
