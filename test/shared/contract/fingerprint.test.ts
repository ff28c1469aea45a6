import { describe, expect, it } from "vitest";
import { z } from "zod";
import { nodeOf } from "../../../shared/agent/agent.ts";
import type { WriteTool } from "../../../shared/agent/tool.ts";
import { fingerprintOf } from "../../../shared/contract/manifest.ts";
import {
  type Agent,
  byKey,
  byQuery,
  definePrompt,
  hours,
  minutes,
  none,
  readTool,
  writeTool,
} from "../../../shared/index.ts";
import { Plan, prompt, Refund, RefundRequest } from "../../builders/agents.ts";
import { asking, count, start } from "../agent/shop.ts";
import {} from "./payment-agent.ts";

const of = (agent: Agent, node: string) => fingerprintOf(nodeOf(agent, node));
const answering = (output: z.ZodType) =>
  of(
    start()
      .model("m", { prompt: prompt("p"), output })
      .end(),
    "m",
  );
const asked = (changed: { text?: string; name?: string; release?: number; model?: string }) => {
  const { text = "Plan the refund.", name = "plan", release = 1 } = changed;
  const data = () => ({});
  const model = changed.model === undefined ? {} : { model: changed.model };
  return of(
    start()
      .model("m", { prompt: definePrompt(name, { release, text, data }), output: Plan, ...model })
      .end(),
    "m",
  );
};
const write = (changed: object = {}): WriteTool<RefundRequest, Refund> =>
  writeTool("create_refund", {
    version: 3,
    risk: "high",
    input: RefundRequest,
    output: Refund,
    downstream: none(),
    semanticFields: ["paymentId", "amountCents"],
    execute: async () => ({ id: "re_1", amountCents: 1 }),
    ...changed,
  });
const request = () => ({ paymentId: "pay_1", amountCents: 1 });
const writing = (tool: object = {}, node: object = {}) =>
  of(
    start()
      .write("w", { tool: write(tool), with: request, ...node })
      .end(),
    "w",
  );

describe("a fingerprint ignores", () => {
  const schema = z.object({ id: z.string(), at: z.object({ city: z.string(), zip: z.string().optional() }) });

  it.each([
    [
      "the order of keys, at any depth",
      z.object({ at: z.object({ zip: z.string().optional(), city: z.string() }), id: z.string() }),
    ],
    [
      "descriptions",
      z.object({ id: z.string().describe("of the order"), at: schema.shape.at.describe("where") }).describe("all"),
    ],
    [
      "titles and examples",
      z.object({
        id: z.string().meta({ title: "Id", examples: ["o-1"] }),
        at: schema.shape.at.meta({ examples: [{ city: "Ulm" }] }),
      }),
    ],
    ["checks that JSON schema cannot say", schema.refine((value) => value.id !== "")],
  ])("%s", (_what, same) => {
    expect(answering(same)).toBe(answering(schema));
  });

  it("whitespace in a prompt, and its release number", () => {
    expect(asked({ text: "  Plan\n\tthe   refund. \n" })).toBe(asked({}));
    expect(asked({ release: 2 })).toBe(asked({}));
  });

  it("callbacks, timeouts, attempts and where the node leads", () => {
    const plain = writing();
    expect(writing({ execute: async () => ({ id: "re_2", amountCents: 2 }), timeout: 5, attempts: 1 })).toBe(plain);
    expect(writing({}, { with: () => ({ paymentId: "pay_2", amountCents: 2 }) })).toBe(plain);
    expect(of(start().write("w", { tool: write(), with: request, then: "z" }).compute("z", count).end(), "w")).toBe(
      plain,
    );
  });

  it("the order in which semantic fields are declared", () => {
    expect(writing({ semanticFields: ["amountCents", "paymentId"] })).toBe(writing());
  });
});

describe("a fingerprint changes with", () => {
  const described = z.object({
    description: z.string(),
    title: z.string(),
    examples: z.array(z.string()),
    required: z.string(),
  });

  it.each([
    ["a field's type", described, described.extend({ title: z.number() })],
    ["the type of a field that is called description", described, described.extend({ description: z.number() })],
    ["a field that is called examples", described, described.omit({ examples: true })],
    ["a field that is called required", described, described.omit({ required: true })],
    [
      "a description inside of a default",
      z.object({ a: z.unknown().default({ description: "x" }) }),
      z.object({ a: z.unknown().default({ description: "y" }) }),
    ],
    ["a field that may be missing", described, described.partial({ title: true })],
    ["a field that may be null", described, described.extend({ title: z.string().nullable() })],
    ["a bound", z.object({ n: z.number() }), z.object({ n: z.number().max(5) })],
    ["a value more", z.enum(["a", "b"]), z.enum(["a", "b", "c"])],
    ["the order of a tuple", z.tuple([z.string(), z.number()]), z.tuple([z.number(), z.string()])],
    ["what an element is", z.array(z.string()), z.array(z.number())],
    ["a default", z.object({ n: z.number().default(1) }), z.object({ n: z.number().default(2) })],
  ])("%s", (_what, one, other) => {
    expect(answering(one)).not.toBe(answering(other));
  });

  it("a word of the prompt, its name, and the model's name", () => {
    expect(
      new Set([asked({}), asked({ text: "Plan a refund." }), asked({ name: "plans" }), asked({ model: "large" })]).size,
    ).toBe(4);
    expect(asked({ text: "Planthe refund." })).not.toBe(asked({}));
    expect(asked({ model: "default" })).toBe(asked({}));
  });

  it("everything that a write's tool promises", () => {
    const lookup = async () => "cannot_tell" as const;
    const fingerprints = [
      writing(),
      writing({ version: 4 }),
      writing({ risk: "low" }),
      writing({ scope: "workflow" }),
      writing({ semanticFields: ["amountCents"] }),
      writing({ downstream: byKey({ window: hours(24) }) }),
      writing({ downstream: byQuery({ settle: minutes(2), lookup }) }),
      writing({ output: Refund.extend({ amountCents: z.string() }) }),
      writing({ input: RefundRequest.omit({ note: true }) }),
      writing({}, { businessKey: () => "o-1" }),
    ];
    expect(new Set(fingerprints).size).toBe(10);
  });

  it("a read's tool, its version and what it takes and gives", () => {
    const reading = (name: string, changed: object = {}) => {
      const tool = readTool(name, {
        version: 1,
        input: Plan,
        output: Plan,
        execute: async () => ({ steps: [] }),
        ...changed,
      });
      return of(
        start()
          .read("r", { tool, with: () => ({ steps: [] }) })
          .end(),
        "r",
      );
    };
    const other = z.object({ steps: z.array(z.string()).max(3) });
    expect(
      new Set([
        reading("a"),
        reading("b"),
        reading("a", { version: 2 }),
        reading("a", { input: other }),
        reading("a", { output: other }),
      ]).size,
    ).toBe(5);
  });

  it("the node's name, its kind, and what an approval guards", () => {
    const guarded = (guards: "a" | "b") =>
      of(
        start()
          .approval("review", { ...asking, of: guards })
          .write("a", { tool: write(), with: request })
          .write("b", { tool: write(), with: request })
          .end(),
        "review",
      );
    expect(guarded("a")).not.toBe(guarded("b"));
    const computed = start()
      .compute("m", { output: Plan, run: () => ({ steps: [] }) })
      .compute("n", { output: Plan, run: () => ({ steps: [] }) })
      .end();
    expect(new Set([of(computed, "m"), of(computed, "n"), answering(Plan)]).size).toBe(3);
  });
});
