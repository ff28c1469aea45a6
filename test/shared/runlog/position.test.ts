import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeAt, ordinalMax, ordinalOf, Position, positionAfter, positionAt } from "../../../shared/runlog/position.ts";

const nodes = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,39}$/);
const ordinals = fc.integer({ min: 0, max: 9_999 });

describe("a position", () => {
  it("is the ordinal in four digits and the node", () => {
    expect(positionAt(3, "order")).toBe("0003.order");
    expect(positionAt(9_999, "order")).toBe("9999.order");
    expect(positionAfter(positionAt(3, "order"), "draft")).toBe("0004.draft");
    expect(ordinalMax).toBe(9_999);
  });

  it("tells its ordinal and its node", () => {
    fc.assert(
      fc.property(ordinals, nodes, (ordinal, node) => {
        const position = positionAt(ordinal, node);
        expect([ordinalOf(position), nodeAt(position)]).toEqual([ordinal, node]);
      }),
    );
  });

  it("of what undoes an operation stands right after that operation's", () => {
    expect(nodeAt(positionAt(3, "order.compensate"))).toBe("order.compensate");
    expect(positionAt(3, "order.compensate") > positionAt(3, "order")).toBe(true);
    expect(positionAt(3, "order.compensate") < positionAt(4, "draft")).toBe(true);
  });

  it("sorts as text the way the run went, whatever the nodes are called", () => {
    fc.assert(
      fc.property(ordinals, ordinals, nodes, nodes, (one, other, oneNode, otherNode) => {
        fc.pre(one < other);
        expect(positionAt(one, oneNode) < positionAt(other, otherNode)).toBe(true);
      }),
    );
  });

  it.each([
    [10_000, "order"],
    [-1, "order"],
    [1.5, "order"],
    [Number.NaN, "order"],
    [1, ""],
    [1, "a/b"],
    [1, "a:b"],
    [1, "ö"],
    [1, "a.b"],
    [1, "a.compensate.compensate"],
    [1, ".compensate"],
  ])("cannot be made of %s and %j", (ordinal, node) => {
    expect(() => positionAt(ordinal, node)).toThrow();
  });

  it.each([["3.order"], ["0003"], ["0003.order\n"], [" 0003.order"], ["0003.order/x"], [""]])(
    "is not read from %j",
    (text) => {
      expect(Position.safeParse(text).success).toBe(false);
    },
  );
});
