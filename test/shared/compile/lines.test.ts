import { describe, expect, it } from "vitest";
import { exitsOf, lineOf, linesOf } from "../../../shared/compile/lines.ts";
import { defineAgent } from "../../../shared/index.ts";
import { approvalFirstAgent, emptyWorld, routedAgent } from "../../builders/agents.ts";
import { asking, count, refund, start } from "../agent/shop.ts";

const world = emptyWorld();
const names = (agent: Parameters<typeof linesOf>[0]) => linesOf(agent).map((line) => line.nodes);

describe("a line", () => {
  it("ends at an approval, at a route and at the end", () => {
    expect(names(routedAgent(world))).toEqual([["order", "size"], ["review"], ["refund"]]);
    expect(names(approvalFirstAgent(world))).toEqual([["review"], ["refund"]]);
  });

  it("follows where nodes lead, not the order in which they were written", () => {
    const agent = start()
      .compute("a", { ...count, then: "c" })
      .compute("b", { ...count, then: "end" })
      .route("c", { to: ["b", "end"], choose: () => "b" })
      .end();
    expect(names(agent)).toEqual([["a", "c"], ["b"]]);
  });

  it("ends where another line already has the next node", () => {
    const agent = start()
      .route("where", { to: ["left", "right"], choose: () => "left" })
      .compute("left", { ...count, then: "both" })
      .compute("right", { ...count, then: "both" })
      .compute("both", count)
      .end();
    expect(names(agent)).toEqual([["where"], ["left", "both"], ["right"]]);
    const [, , right] = linesOf(agent);
    expect(exitsOf(agent, right!)).toEqual(["both"]);
  });

  it("is named by its nodes", () => {
    expect(linesOf(routedAgent(world)).map((line) => line.name)).toEqual(["order+size", "review", "refund"]);
  });

  it("is cut to 60 characters with a digest of all its nodes, so that two long ones differ", () => {
    const long = (last: "c" | "d") =>
      defineAgent("long", { version: 1, input: count.output })
        .compute("looks-up-the-order-in-the-shop-of-record", count)
        .compute("drafts-the-answer-that-the-customer-gets", count)
        .compute(last, count)
        .end();
    const [one] = linesOf(long("c"));
    const [other] = linesOf(long("d"));
    // printf looks-up-the-order-in-the-shop-of-record+drafts-the-answer-that-the-customer-gets+c | sha256sum
    expect(one?.name).toBe("looks-up-the-order-in-the-shop-of-record+drafts-the~3f913df9");
    expect(one?.name).toHaveLength(60);
    expect(other?.name).not.toBe(one?.name);
  });

  it.each(["Start", "Done", "Failed"])("of a node called %s has a name that no other state has", (name) => {
    expect(linesOf(start().compute(name, count).end())).toEqual([{ name: `Line ${name}`, nodes: [name] }]);
  });

  it("is found by any of its nodes", () => {
    const lines = linesOf(routedAgent(world));
    expect(lineOf(lines, "size")?.name).toBe("order+size");
    expect(lineOf(lines, "nobody")).toBeUndefined();
  });
});

describe("the exits of a line", () => {
  const guarded = (changes: object) =>
    start()
      .compute("a", count)
      .approval("review", { of: "refund", ...asking, onReject: "a", ...changes })
      .write("refund", refund)
      .end();
  const exits = (changes: object) => {
    const agent = guarded(changes);
    return linesOf(agent).map((line) => exitsOf(agent, line));
  };

  it.each([
    ["an approval that is always asked only waits", {}, [["wait!"], ["end"]]],
    ["one that may be skipped waits or goes on", { when: () => true }, [["refund", "wait!"], ["end"]]],
    ["an answer that ends the run comes back to close it", { onReject: "end" }, [["wait!", "end"], ["end"]]],
    ["so does an expiry that ends it", { onExpire: "end" }, [["wait!", "end"], ["end"]]],
    ["a stale decision that ends it leaves the write's line there", { onStale: "end" }, [["wait!"], ["end"]]],
  ])("%s", (_what, changes, expected) => {
    expect(exits(changes)).toEqual(expected);
  });

  it("name each target of a route once, and none that is on the line", () => {
    const agent = start()
      .compute("a", count)
      .route("where", { to: ["b", "a", "b", "end"], choose: () => "end" })
      .compute("b", count)
      .end();
    expect(exitsOf(agent, linesOf(agent)[0]!)).toEqual(["b", "end"]);
  });
});
