import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAgent, readTool } from "../../../shared/index.ts";
import { Plan, prompt } from "../../builders/agents.ts";
import { count, problemOf, start } from "./shop.ts";

describe("a schema that JSON cannot carry is refused", () => {
  const unfit: readonly (readonly [string, z.ZodType])[] = [
    ["a date", z.object({ at: z.date() })],
    ["a bigint", z.object({ amount: z.bigint() })],
    ["a transform", z.object({ at: z.string().transform(Number) })],
    ["a map", z.map(z.string(), z.string())],
    ["a set", z.object({ tags: z.set(z.string()) })],
    ["a custom type", z.object({ at: z.instanceof(URL) })],
    ["nothing", z.void()],
    ["a value that may be nothing", z.string().optional()],
    ["a value that may be nothing, inside out", z.string().optional().nullable()],
    ["a choice of which one is nothing", z.union([z.string(), z.number().optional()])],
  ];
  const tool = (changed: object) =>
    readTool("lookup", { version: 1, input: Plan, output: Plan, execute: async () => ({ steps: [] }), ...changed });

  it.each(unfit)("%s as a model's answer", (_what, output) => {
    const problem = problemOf(() =>
      start()
        .model("plan", { prompt: prompt("plan"), output })
        .end(),
    );
    expect(problem.message).toMatch(
      /^agent "shop": node "plan": output schema: JSON cannot carry it \(.+\): use strings, numbers/u,
    );
    expect(problem.facts).toEqual({ agent: "shop", node: "plan" });
  });

  it.each(unfit)("%s as a computed result", (_what, output) => {
    const problem = problemOf(() =>
      start()
        .compute("sum", { output, run: () => 1 })
        .end(),
    );
    expect(problem.message).toContain('node "sum": output schema: JSON cannot carry it');
  });

  it.each(unfit)("%s as an agent's input", (_what, input) => {
    const problem = problemOf(() => defineAgent("shop", { version: 1, input }).compute("a", count).end());
    expect(problem.message).toContain('agent "shop": input schema: JSON cannot carry it');
  });

  it.each(unfit)("%s as what a tool takes and gives", (_what, schema) => {
    const given = problemOf(() =>
      start()
        .read("look", { tool: tool({ output: schema }), with: () => ({ steps: [] }) })
        .end(),
    );
    expect(given.message).toContain('node "look": output schema of tool "lookup": JSON cannot carry it');
    const taken = problemOf(() =>
      start()
        .read("look", { tool: tool({ input: schema }), with: () => ({ steps: [] }) })
        .end(),
    );
    expect(taken.message).toContain('node "look": input schema of tool "lookup": JSON cannot carry it');
  });

  it.each([
    ["an optional member", z.object({ note: z.string().optional() })],
    ["a default", z.string().default("x")],
    ["null", z.null()],
    ["anything, checked when it is there", z.unknown()],
    [
      "itself",
      z.object({
        name: z.string(),
        get parts() {
          return z.array(z.object({ name: z.string() }));
        },
      }),
    ],
    ["a record", z.record(z.string(), z.number())],
    ["a check that is asked asynchronously", z.string().refine(async () => true)],
  ])("%s is fit", (_what, output) => {
    expect(
      start()
        .model("plan", { prompt: prompt("plan"), output })
        .end().nodes,
    ).toHaveLength(1);
  });
});
