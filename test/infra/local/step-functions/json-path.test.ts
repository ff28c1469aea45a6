import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../../infra/local/step-functions/json.ts";
import { parsePath, readPath, writePath } from "../../../../infra/local/step-functions/json-path.ts";
import { fillTemplate } from "../../../../infra/local/step-functions/payload-template.ts";

const data: Json = { a: { b: [10, { c: "deep" }] }, "with space": 1, nothing: null };
const context: Json = { Execution: { Name: "run-1" } };
const read = (source: string): Json | undefined => readPath(parsePath(source), { data, context });

describe("a path selects", () => {
  test.each<[string, Json | undefined]>([
    ["$", data],
    ["$.a.b", [10, { c: "deep" }]],
    ["$.a.b[0]", 10],
    ["$.a.b[1].c", "deep"],
    ["$['with space']", 1],
    ["$.nothing", null],
    ["$$.Execution.Name", "run-1"],
    ["$$", context],
    ["$.missing", undefined],
    ["$.a.b[2]", undefined],
    ["$.a[0]", undefined],
    ["$.a.b.length", undefined],
    ["$.__proto__", undefined],
    ["$.toString", undefined],
  ])("%s", (source, expected) => {
    expect(read(source)).toEqual(expected);
  });
});

test.each([
  "",
  "a",
  "$a",
  "$.",
  "$.a.",
  "$[",
  "$[-1]",
  "$[01]",
  "$.a[*]",
  "$..a",
  "$.a[0:1]",
  "$.a.length()",
  "$$$",
  "States.Format('x')",
])("the path %j is refused", (source) => {
  expect(() => parsePath(source)).toThrow(/^expected/);
});

describe("a result is placed by its path", () => {
  const write = (source: string, input: Json, value: Json): Json | undefined =>
    writePath(parsePath(source), input, value);
  test.each<[string, Json, Json | undefined]>([
    ["$", { a: 1 }, "new"],
    ["$.x", { a: 1 }, { a: 1, x: "new" }],
    ["$.x.y.z", { a: 1 }, { a: 1, x: { y: { z: "new" } } }],
    ["$.a", { a: 1 }, { a: "new" }],
    ["$.list[1]", { list: [1, 2] }, { list: [1, "new"] }],
    ["$.list[2]", { list: [1, 2] }, undefined],
    ["$.a.b", { a: 1 }, undefined],
    ["$.a", [1], undefined],
    ["$.a", "text", undefined],
  ])("%s into %j", (source, input, expected) => {
    expect(write(source, input, "new")).toEqual(expected);
  });

  test("what was placed is read back, and the input is left as it was", () => {
    const names = fc.array(fc.stringMatching(/^[a-z_]{1,6}$/), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(names, fc.dictionary(fc.string(), fc.string()), fc.jsonValue(), (steps, input, value) => {
        const before = JSON.stringify(input);
        const path = parsePath(`$.${steps.join(".")}`);
        const placed = writePath(path, input, value as Json);
        if (placed !== undefined) expect(readPath(path, { data: placed, context: {} })).toEqual(value);
        expect(JSON.stringify(input)).toBe(before);
      }),
    );
  });
});

describe("a template", () => {
  test("replaces path fields at any depth and leaves everything else literal", () => {
    const template = {
      "id.$": "$.a.b[0]",
      literal: "$.a",
      list: [{ "run.$": "$$.Execution.Name" }, "$.a"],
      nested: { "n.$": "$.nothing" },
    };
    expect(fillTemplate(template, { data, context })).toEqual({
      id: 10,
      literal: "$.a",
      list: [{ run: "run-1" }, "$.a"],
      nested: { n: null },
    });
  });
  test("names the field and the path that selected nothing", () => {
    expect(() => fillTemplate({ "id.$": "$.nope" }, { data: { a: 1 }, context })).toThrow(
      `The JSONPath '$.nope' specified for the field 'id.$' could not be found in the input '{"a":1}'`,
    );
  });
});
