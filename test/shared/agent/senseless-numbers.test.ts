import { describe, expect, it } from "vitest";
import { byKey, byQuery, days, hours, none, writeTool } from "../../../shared/index.ts";
import { Refund, RefundRequest } from "../../builders/agents.ts";
import { asking, plan, problemOf, refund, start } from "./shop.ts";

describe("a number without sense is refused", () => {
  const write = (changed: object) =>
    writeTool("create_refund", {
      version: 1,
      risk: "high",
      input: RefundRequest,
      output: Refund,
      downstream: none(),
      semanticFields: ["amountCents"],
      execute: async () => ({ id: "re_1", amountCents: 1 }),
      ...changed,
    });
  const refundWith = (changed: object) =>
    start()
      .write("refund", { ...refund, tool: write(changed) })
      .end();
  const modelWith = (changed: object) =>
    start()
      .model("plan", { ...plan, ...changed })
      .end();
  const lookup = async () => "cannot_tell" as const;

  it.each([
    ["no attempt", () => modelWith({ attempts: 0 }), 'node "plan": attempts must be a whole number from 1, found 0'],
    [
      "half an attempt",
      () => refundWith({ attempts: 1.5 }),
      'node "refund": attempts must be a whole number from 1, found 1.5',
    ],
    [
      "no tokens",
      () => modelWith({ outputTokens: 0 }),
      'node "plan": outputTokens must be a whole number from 1, found 0',
    ],
    [
      "no time for a model",
      () => modelWith({ timeout: 0 }),
      'node "plan": timeout must be longer than nothing, found 0 ms',
    ],
    [
      "a time for a model that is none",
      () => modelWith({ timeout: Number.NaN }),
      'node "plan": timeout must be longer than nothing, found NaN ms',
    ],
    [
      "negative time for a tool",
      () => refundWith({ timeout: -1 }),
      'node "refund": timeout must be longer than nothing, found -1 ms',
    ],
    [
      "endless time for a tool",
      () => refundWith({ timeout: Infinity }),
      'node "refund": timeout must be longer than nothing, found Infinity ms',
    ],
    [
      "a tool's version 0",
      () => refundWith({ version: 0 }),
      'node "refund": version of tool "create_refund" must be a whole number from 1, found 0',
    ],
    [
      "no semantic fields",
      () => refundWith({ semanticFields: [] }),
      'node "refund": tool "create_refund" declares no semantic fields: name the ones whose change is another request',
    ],
    [
      "a key that nobody remembers",
      () => refundWith({ downstream: byKey({ window: 0 }) }),
      'node "refund": the window of tool "create_refund" must be longer than nothing, found 0 ms',
    ],
    [
      "a settle time that is none",
      () => refundWith({ downstream: byQuery({ settle: Number.NaN, lookup }) }),
      'node "refund": the settle time of tool "create_refund" must not be negative, found NaN ms',
    ],
    [
      "a negative settle time",
      () => refundWith({ downstream: byKey({ window: hours(1), settle: -1, lookup }) }),
      'node "refund": the settle time of tool "create_refund" must not be negative, found -1 ms',
    ],
  ])("%s", (_what, define, message) => {
    expect(problemOf(define).message).toBe(`agent "shop": ${message}`);
  });

  it.each([[0], [-1], [Number.NaN], [Infinity], [days(365) + 1]])("an approval that is valid for %s ms", (validFor) => {
    const define = () =>
      start()
        .approval("review", { of: "refund", ...asking, validFor })
        .write("refund", refund)
        .end();
    expect(problemOf(define).message).toBe(
      `agent "shop": node "review": validFor must be longer than nothing and at most 365 days, after which an execution ends; found ${validFor} ms`,
    );
  });

  it.each([[1], [days(365)]])("but an approval may be valid for %s ms", (validFor) => {
    const agent = start()
      .approval("review", { of: "refund", ...asking, validFor })
      .write("refund", refund)
      .end();
    expect(agent.nodes[0]).toMatchObject({ validForMs: validFor });
  });
});
