import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Agent, none, writeTool } from "../../../shared/index.ts";
import { findNode, nodeOf } from "../../../shared/agent/agent.ts";
import {
  compensableNodes,
  compensationName,
  isCompensation,
  writeUndoneBy,
} from "../../../shared/agent/compensation.ts";
import type { WriteNode } from "../../../shared/agent/node.ts";
import { emptyWorld, createRefundTool, type Refund } from "../../builders/agents.ts";
import { problemOf, refund, start } from "./shop.ts";

const world = emptyWorld();
const ChargeBack = z.object({ refundId: z.string(), of: z.string() });
const chargeBack = (over: { readonly scope?: "run" | "workflow"; readonly version?: number } = {}) =>
  writeTool("charge_back", {
    version: over.version ?? 1,
    risk: "high",
    input: ChargeBack,
    output: z.object({ id: z.string() }),
    downstream: none(),
    semanticFields: ["refundId"],
    ...(over.scope && { scope: over.scope }),
    execute: async () => ({ id: "cb_1" }),
  });
const undo = (tool = chargeBack()) => ({
  tool,
  with: ({ input }: { readonly input: { readonly paymentId: string } }, { id }: Refund) => ({
    refundId: id,
    of: input.paymentId,
  }),
});
const compensated = (): Agent =>
  start()
    .write("refund", { ...refund, compensate: undo() })
    .write("again", refund)
    .end();

describe("how a write is undone", () => {
  it("is part of the write, and another node's business no more", () => {
    const agent = compensated();
    expect(compensableNodes(agent).map(({ name }) => name)).toEqual(["refund"]);
    expect(agent.nodes.map(({ name }) => name)).toEqual(["refund", "again"]);
  });

  it("makes a write of its own, named after the one it undoes, which every record finds", () => {
    const agent = compensated();
    expect(nodeOf(agent, "refund.compensate")).toMatchObject({ kind: "write", name: "refund.compensate", next: "end" });
    expect((nodeOf(agent, "refund.compensate") as WriteNode).tool.name).toBe("charge_back");
    for (const name of ["again.compensate", "gone.compensate", "gone"]) expect(findNode(agent, name)).toBeUndefined();
    expect(() => nodeOf(agent, "again.compensate")).toThrow(RangeError);
  });

  it("asks with what its write saw and what that came to, under the business key of the operation that is undone", () => {
    const node = nodeOf(compensated(), "refund.compensate") as WriteNode;
    const state = {
      input: { paymentId: "pay_1" },
      "refund.compensate": { business_key: "ORD-1", result: { id: "re_1", amountCents: 1 } },
    };
    expect(node.request(state)).toEqual({ refundId: "re_1", of: "pay_1" });
    expect(node.businessKey?.(state)).toBe("ORD-1");
  });

  it("has a name that no node of a definition can have", () => {
    expect(compensationName("refund")).toBe("refund.compensate");
    expect([writeUndoneBy("refund.compensate"), writeUndoneBy("refund")]).toEqual(["refund", undefined]);
    expect([isCompensation("refund.compensate"), isCompensation("compensate")]).toEqual([true, false]);
    expect(problemOf(() => start().write("refund.compensate", refund).end()).message).toContain("a name is letters");
  });

  it.each([
    [
      "a write whose operations other runs of its workflow rely on",
      () => {
        const tool = { ...createRefundTool(world), scope: "workflow" as const };
        return start()
          .write("refund", { ...refund, tool, compensate: undo() })
          .end();
      },
      'compensate: the operations of tool "create_refund" belong to every run of a workflow',
    ],
    [
      "an undoing that would be shared with them",
      () =>
        start()
          .write("refund", { ...refund, compensate: undo(chargeBack({ scope: "workflow" })) })
          .end(),
      'compensate: the operations of tool "charge_back" belong to every run of a workflow',
    ],
    [
      "a tool that is wrong",
      () =>
        start()
          .write("refund", { ...refund, compensate: undo(chargeBack({ version: 0 })) })
          .end(),
      'compensate: version of tool "charge_back" must be a whole number from 1, found 0',
    ],
  ])("is refused for %s", (_what, define, problem) => {
    expect(problemOf(define)).toMatchObject({ message: expect.stringContaining(problem), facts: { node: "refund" } });
  });
});
