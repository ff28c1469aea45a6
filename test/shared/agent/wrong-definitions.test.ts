import { describe, expect, it } from "vitest";
import { defineAgent } from "../../../shared/index.ts";
import { Plan, prompt } from "../../builders/agents.ts";
import { asking, count, endAnyway, problemOf, refund, start } from "./shop.ts";

describe("a wrong definition is refused where it is written, and the node is named", () => {
  it.each([
    [
      "a target that does not exist",
      () => endAnyway(start().write("refund", { ...refund, then: "refnd" })),
      "refund",
      'node "refund" leads to "refnd", which does not exist',
    ],
    [
      "a route to nowhere",
      () => endAnyway(start().route("where", { to: ["end", "ned"], choose: () => "end" })),
      "where",
      'node "where" leads to "ned", which does not exist',
    ],
    [
      "a rejection that leads nowhere",
      () =>
        endAnyway(
          start()
            .approval("review", { of: "refund", ...asking, onReject: "pln" })
            .write("refund", refund),
        ),
      "review",
      'node "review" leads to "pln", which does not exist',
    ],
    [
      "a stale decision that leads nowhere",
      () =>
        endAnyway(
          start()
            .approval("review", { of: "refund", ...asking, onStale: "pln" })
            .write("refund", refund),
        ),
      "review",
      'node "review" leads to "pln", which does not exist',
    ],
    [
      "a route without targets",
      () =>
        start()
          .route("where", {
            to: [],
            choose: (): never => {
              throw new Error();
            },
          })
          .end(),
      "where",
      'node "where": leads nowhere: give at least one target',
    ],
    [
      "a node that nothing leads to",
      () =>
        start()
          .compute("a", { ...count, then: "end" })
          .compute("b", count)
          .end(),
      "b",
      'node "b" cannot be reached: nothing leads to it',
    ],
    [
      "a node that only a cut-off node leads to",
      () =>
        start()
          .route("a", { to: ["end"], choose: () => "end" })
          .compute("b", { ...count, then: "c" })
          .compute("c", count)
          .end(),
      "b",
      'node "b" cannot be reached: nothing leads to it',
    ],
    [
      "a cycle without exit",
      () =>
        start()
          .compute("a", count)
          .compute("b", { ...count, then: "a" })
          .end(),
      "a",
      'node "a" never comes to an end: give the cycle a way out',
    ],
    [
      "a node that leads to itself",
      () =>
        start()
          .compute("a", { ...count, then: "a" })
          .end(),
      "a",
      'node "a" never comes to an end: give the cycle a way out',
    ],
    [
      "a branch into a cycle without exit",
      () =>
        start()
          .route("where", { to: ["a", "end"], choose: () => "end" })
          .compute("a", { ...count, then: "a" })
          .end(),
      "a",
      'node "a" never comes to an end: give the cycle a way out',
    ],
    [
      "two nodes of one name",
      () =>
        endAnyway(
          start()
            .compute("a", count)
            .compute("a" as never, count),
        ),
      "a",
      'node "a" is defined twice',
    ],
    [
      "a reserved name",
      () => endAnyway(start().compute("input" as never, count)),
      "input",
      'node "input": the name is reserved',
    ],
    [
      "a name with a colon",
      () => start().compute("a:b", count).end(),
      "a:b",
      'node "a:b": a name is letters, digits, _ and -, starts with a letter, at most 40 characters',
    ],
    [
      "a name of 41 characters",
      () => start().compute("n".repeat(41), count).end(),
      "n".repeat(41),
      `node "${"n".repeat(41)}": a name is letters`,
    ],
    [
      "an approval of a read",
      () =>
        start()
          .approval("review", { of: "count", ...asking })
          .compute("count", count)
          .end(),
      "review",
      'node "review": approves "count", which is a compute node: name a write node',
    ],
    [
      "an approval of nothing",
      () => endAnyway(start().approval("review", { of: "refnd", ...asking })),
      "review",
      'node "review": approves "refnd", which is no node: name a write node',
    ],
    [
      "a prompt without text",
      () =>
        start()
          .model("plan", { prompt: prompt("plan", "  \n"), output: Plan })
          .end(),
      "plan",
      'node "plan": its prompt has no text',
    ],
  ])("%s", (_what, define, node, message) => {
    const problem = problemOf(define);
    expect(problem.message).toContain(`agent "shop": ${message}`);
    expect(problem.facts).toEqual({ agent: "shop", node });
  });

  it.each([
    ["no nodes", () => start().end(), "it has no nodes: add at least one before .end()"],
    [
      "version 0",
      () => start({ version: 0 }).compute("a", count).end(),
      "version must be a whole number from 1, found 0",
    ],
    [
      "version 1.5",
      () => start({ version: 1.5 }).compute("a", count).end(),
      "version must be a whole number from 1, found 1.5",
    ],
    [
      "no step",
      () => start({ stepsMax: 0 }).compute("a", count).end(),
      "stepsMax must be a whole number from 1 to 9999, found 0",
    ],
    [
      "more steps than positions",
      () => start({ stepsMax: 10_000 }).compute("a", count).end(),
      "stepsMax must be a whole number from 1 to 9999, found 10000",
    ],
    [
      "steps that are no number",
      () => start({ stepsMax: Number.NaN }).compute("a", count).end(),
      "stepsMax must be a whole number from 1 to 9999, found NaN",
    ],
  ])("%s", (_what, define, message) => {
    expect(problemOf(define)).toEqual({ message: `agent "shop": ${message}`, facts: { agent: "shop" } });
  });

  it.each([["Shop"], ["shop agent"], ["shop:1"], ["1shop"], [""], ["s".repeat(41)]])("an agent named %j", (name) => {
    const define = () => defineAgent(name, { version: 1, input: Plan }).compute("a", count).end();
    expect(problemOf(define).message).toContain("the name must be a-z, 0-9 and -, start with a letter");
  });
});
