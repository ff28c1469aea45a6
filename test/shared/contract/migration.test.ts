import { describe, expect, it } from "vitest";
import { compareAt } from "../../../shared/contract/compare-at.ts";
import { manifestOf } from "../../../shared/contract/manifest.ts";
import { type Migration, migrateState, migrationsBetween } from "../../../shared/contract/migration.ts";
import type { Foothold } from "../../../shared/contract/foothold.ts";
import { footholdOf } from "../../../shared/contract/foothold.ts";
import { problemOf } from "../agent/shop.ts";
import { type Parts, paymentAgent, riskCheck } from "./payment-agent.ts";

const up = (from: number, to: number, over: Partial<Migration> = {}): Migration => ({
  from,
  to,
  migrate: (state) => ({ ...state, [`v${to}`]: Object.keys(state).length }),
  ...over,
});

describe("migrations lead from version to version", () => {
  const steps = [up(5, 7), up(7, 8), up(8, 9)];

  it.each<[number, number, readonly number[] | undefined]>([
    [7, 8, [8]],
    [5, 9, [7, 8, 9]],
    [8, 9, [9]],
    [6, 9, undefined],
    [5, 6, undefined],
    [9, 8, undefined],
    [7, 7, undefined],
    [7, 10, undefined],
  ])("%i to %i: %j", (from, to, by) => {
    expect(migrationsBetween(steps, from, to)?.map((step) => step.to)).toEqual(by);
  });

  it.each<[string, readonly Migration[], RegExp]>([
    ["down", [up(7, 6)], /a migration goes up, .* found 7 to 6$/],
    ["nowhere", [up(7, 7)], /found 7 to 7$/],
    ["past this version", [up(7, 9)], /at most this one \(8\); found 7 to 9$/],
    ["to half a version", [up(7, 7.5)], /found 7 to 7\.5$/],
    ["two ways", [up(7, 8), up(6, 7), up(6, 8)], /two migrations lead away from version 6: keep one$/],
  ])("and one that leads %s is refused where the agent is defined", (_what, migrations, problem) => {
    const { message } = problemOf(() => paymentAgent({ version: 8, options: { migrations } }));
    expect(message).toMatch(problem);
  });
});

describe("a state is migrated", () => {
  const state = { input: { order: "o-1" }, planner: { amountCents: 5 } };

  it("step by step, and the state that was given stays as it was", () => {
    const writes = up(7, 8, {
      migrate: (before) => {
        (before["planner"] as { amountCents: number }).amountCents = 6;
        return { ...before, risk_check: { risk: 0 } };
      },
    });
    expect(migrateState([writes, up(8, 9)], state)).toEqual({
      input: { order: "o-1" },
      planner: { amountCents: 6 },
      risk_check: { risk: 0 },
      v9: 3,
    });
    expect(state.planner.amountCents).toBe(5);
  });

  it.each<[string, () => unknown, RegExp]>([
    ["throws", () => JSON.parse("{"), /from version 7 to 8 threw: .*\. Nothing ran, and the run is as it was$/],
    ["gives nothing", () => undefined, /gave nothing: return \{ \.\.\.state, … \}, input included/],
    ["gives a text", () => "state", /gave no state/],
    ["loses the input", () => ({ planner: 1 }), /gave no state: .*input included/],
    ["gives what JSON cannot carry", () => ({ input: 1n }), /gave what JSON cannot carry/],
  ])("or refused, where its migration %s", (_what, migrate, problem) => {
    const migration = up(7, 8, { migrate: migrate as Migration["migrate"] });
    expect(() => migrateState([migration], state)).toThrow(problem);
    expect(() => migrateState([migration], state)).toThrow(expect.objectContaining({ code: "migration_failed" }));
  });
});

describe("a run under a version that migrations lead to", () => {
  const recorded = manifestOf(paymentAgent());
  const eight = (parts: Parts = {}, over: Partial<Migration> = {}) =>
    manifestOf(paymentAgent({ version: 8, options: { migrations: [up(7, 8, over)] }, ...parts }));
  const at = (node: string, over: Partial<Foothold> = {}): Foothold => ({
    ...footholdOf({ run: { entry: "planner" }, steps: [], waiters: [] }, [], undefined),
    node,
    ...over,
  });
  const asked = { asked: { approved: "payment", rejected: "planner", expired: "end" } };

  it("goes on where it stands, by the migrations in order", () => {
    expect(compareAt(recorded, eight(), at("lookup"))).toMatchObject({
      verdict: "migrate",
      goesOnAt: "lookup",
      asksAgain: false,
      migrations: [{ from: 7, to: 8 }],
    });
  });

  it("asks an open question again, and for a yes that was given where the migration says so, or where it would authorise something else", () => {
    const again = { verdict: "migrate", goesOnAt: "approval", asksAgain: true };
    expect(compareAt(recorded, eight(), at("approval", asked))).toMatchObject(again);
    const given = {
      edges: [
        { from: "lookup", to: "approval" },
        { from: "approval", to: "payment" },
      ],
    };
    expect(compareAt(recorded, eight(), at("payment", given))).toMatchObject({ asksAgain: false, goesOnAt: "payment" });
    expect(compareAt(recorded, eight({}, { reapprove: true }), at("payment", given))).toMatchObject(again);
    expect(compareAt(recorded, eight({}, { reapprove: true }), at("lookup"))).toMatchObject({ asksAgain: false });
    expect(compareAt(recorded, eight({ before: { payment: riskCheck } }), at("approval", asked))).toMatchObject({
      verdict: "migrate",
      goesOnAt: "approval",
      asksAgain: true,
    });
  });

  it("goes on elsewhere where its node is gone and the migration says where; not at all where it does not", () => {
    const less = { without: ["lookup"] };
    expect(compareAt(recorded, eight(less, { resumeAt: { lookup: "approval" } }), at("lookup"))).toMatchObject({
      verdict: "migrate",
      goesOnAt: "approval",
    });
    expect(compareAt(recorded, eight(less), at("lookup"))).toMatchObject({
      verdict: "incompatible",
      goesOnAt: undefined,
      migrations: [],
    });
  });

  it("waits until what has begun is over: no change of state makes it known", () => {
    const begun = at("payment", { begun: ["payment"] });
    expect(compareAt(recorded, eight(), begun)).toMatchObject({ verdict: "incompatible", migrations: [] });
    expect(compareAt(recorded, eight(), at("payment", { undoing: true }))).toMatchObject({ verdict: "incompatible" });
  });

  it("at its end goes on to its end", () => {
    expect(compareAt(recorded, eight(), at("end"))).toMatchObject({ verdict: "migrate", goesOnAt: "end" });
  });
});
