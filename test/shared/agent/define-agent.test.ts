import { describe, expect, it } from "vitest";
import { approvalFirstAgent, emptyWorld, refundAgent, routedAgent } from "../../builders/agents.ts";
import { asking, endAnyway, plan, refund, start } from "./shop.ts";

const world = emptyWorld();

describe("a definition", () => {
  it("lists its nodes in order, each leading to the next and the last to the end", () => {
    const agent = refundAgent(world);
    expect(agent.nodes.map((node) => [node.name, node.kind, node.next])).toEqual([
      ["plan", "model", "order"],
      ["order", "read", "draft"],
      ["draft", "model", "review"],
      ["review", "approval", "refund"],
      ["refund", "write", "notify"],
      ["notify", "write", "verify"],
      ["verify", "read", "finalize"],
      ["finalize", "model", "end"],
    ]);
    expect(agent).toMatchObject({ name: "refund-agent", version: 1, stepsMax: 200 });
  });

  it("sends an expiry and a stale decision where a rejection goes, unless told otherwise", () => {
    const review = (more: object) =>
      start().approval("review", { of: "refund", ...asking, onReject: "review", ...more });
    const routes = (more: object) => endAnyway(review(more).write("refund", refund)).nodes[0];
    expect(routes({})).toMatchObject({ onReject: "review", onExpire: "review", onStale: "review" });
    expect(routes({ onExpire: "end" })).toMatchObject({ onReject: "review", onExpire: "end", onStale: "review" });
    expect(routes({ onStale: "end" })).toMatchObject({ onReject: "review", onExpire: "review", onStale: "end" });
  });

  it("never changes a builder: two agents may grow from one beginning", () => {
    const beginning = start().model("plan", plan);
    const short = beginning.end();
    const long = beginning.write("refund", refund).end();
    expect(short.nodes.map((node) => node.name)).toEqual(["plan"]);
    expect(long.nodes.map((node) => node.name)).toEqual(["plan", "refund"]);
  });

  it("has limits on time, attempts and tokens where nobody names any", () => {
    const [model, write] = start().model("plan", plan).write("refund", refund).end().nodes;
    expect(model).toMatchObject({ timeoutMs: 60_000, attemptsMax: 3, outputTokensMax: 2_000, model: "default" });
    expect(write).toMatchObject({ tool: { timeoutMs: 10_000, attemptsMax: 3, scope: "run" } });
  });

  it("of every sample agent is sound", () => {
    expect([refundAgent(world), routedAgent(world), approvalFirstAgent(world)].map((agent) => agent.name)).toEqual([
      "refund-agent",
      "routed-agent",
      "approval-first-agent",
    ]);
  });
});
