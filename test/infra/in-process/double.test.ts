import { describe, expect, it } from "vitest";
import { double, type ToolDouble } from "../../../infra/in-process/double.ts";
import { Journal } from "../../../infra/in-process/journal.ts";
import { hours, minutes } from "../../../shared/index.ts";

/** One double in a world of its own, without an engine. */
function alone({ make }: ToolDouble) {
  let nowMs = 0;
  const journal = new Journal((key) => (key === "op-1" ? "ORD-1" : undefined));
  const standIn = make("refund", { journal, nowMs: () => nowMs, startMs: 0 });
  const signal = new AbortController().signal;
  return {
    journal,
    call: (key: string, request: unknown) => standIn.execute(request, { key, signal }),
    lookup: (key: string) => standIn.lookup?.({}, { key, signal }),
    pass: (ms: number) => (nowMs += ms),
  };
}

const result = ({ cents }: { readonly cents: number }, { key, n }: { readonly key: string; readonly n: number }) => ({
  id: `re_${n}`,
  key,
  cents,
});

describe("the double of a side that knows keys", () => {
  const known = () => alone(double.key({ window: hours(24), result }));

  it("answers the first result again for a key that it remembers, whatever the order of the fields", () => {
    const side = known();
    const first = side.call("op-1", { cents: 5, to: "a" });
    side.pass(hours(23));
    expect(side.call("op-1", { to: "a", cents: 5 })).toEqual(first);
    expect(side.journal.effects()).toHaveLength(1);
  });

  it("takes a key for a new request once its window has passed", () => {
    const side = known();
    side.call("op-1", { cents: 5 });
    side.pass(hours(24));
    expect(side.call("op-1", { cents: 5 })).toMatchObject({ id: "re_2" });
    expect(side.journal.effects()).toHaveLength(2);
  });

  it("refuses another request under a key that it remembers", () => {
    const side = known();
    side.call("op-1", { cents: 5 });
    expect(() => side.call("op-1", { cents: 6 })).toThrow(expect.objectContaining({ status: 400 }) as Error);
    expect(side.journal.effects()).toHaveLength(1);
  });

  it("can be asked", () => {
    const side = known();
    side.call("op-1", { cents: 5 });
    expect([side.lookup("op-1"), side.lookup("op-2")]).toEqual([
      { found: { id: "re_1", key: "op-1", cents: 5 } },
      "not_found",
    ]);
  });
});

describe("the double of a side that can be asked", () => {
  it("has an effect for each request", () => {
    const side = alone(double.query({ result }));
    side.call("op-1", { cents: 5 });
    side.call("op-1", { cents: 5 });
    expect(side.journal.effects().map(({ result: made }) => made)).toMatchObject([{ id: "re_1" }, { id: "re_2" }]);
  });

  it("shows what happened only once it is visible", () => {
    const side = alone(double.query({ result, visibleAfter: minutes(5) }));
    side.call("op-1", { cents: 5 });
    side.pass(minutes(5) - 1);
    expect(side.lookup("op-1")).toBe("not_found");
    side.pass(1);
    expect(side.lookup("op-1")).toMatchObject({ found: { id: "re_1" } });
  });
});

describe("the double of a side that can do neither", () => {
  it("has an effect for each request and cannot be asked", () => {
    const side = alone(double.none({ result: { id: "always the same" } }));
    side.call("op-1", {});
    side.call("op-1", {});
    expect(side.journal.effects()).toHaveLength(2);
    expect(side.lookup("op-1")).toBeUndefined();
  });
});

describe("a double", () => {
  it("remembers nothing of another world", () => {
    const once = double.key({ window: hours(24), result });
    alone(once).call("op-1", { cents: 5 });
    expect(alone(once).call("op-1", { cents: 7 })).toMatchObject({ id: "re_1", cents: 7 });
  });

  it("counts by tool and business key", () => {
    const side = alone(double.none({ result }));
    side.call("op-1", { cents: 5 });
    side.call("op-9", { cents: 5 });
    expect(side.journal.effects("refund", "ORD-1")).toMatchObject([{ key: "op-1", businessKey: "ORD-1" }]);
    expect(side.journal.effects("refund")).toHaveLength(2);
    expect(side.journal.effects("another")).toEqual([]);
  });
});
