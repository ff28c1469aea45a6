import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DiffPart, lineDiff } from "../../../lambdas/pages/line-diff.ts";

const sideOf = (parts: readonly DiffPart[], left: DiffPart["kind"]) =>
  parts.filter(({ kind }) => kind === "same" || kind === left).flatMap(({ lines }) => lines);

describe("what changed between two texts", () => {
  it("is named line by line, in order", () => {
    expect(lineDiff("a\nb\nc\nd\n", "a\nB\nc\nd\ne\n")).toEqual([
      { kind: "same", lines: ["a"] },
      { kind: "removed", lines: ["b"] },
      { kind: "added", lines: ["B"] },
      { kind: "same", lines: ["c", "d"] },
      { kind: "added", lines: ["e"] },
    ]);
  });

  it.each<[string, string, string, readonly DiffPart[]]>([
    ["nothing", "", "", []],
    ["the same", "a\nb", "a\nb", [{ kind: "same", lines: ["a", "b"] }]],
    ["from nothing", "", "a\nb", [{ kind: "added", lines: ["a", "b"] }]],
    ["to nothing", "a", "", [{ kind: "removed", lines: ["a"] }]],
    ["an empty line", "\n", "", [{ kind: "removed", lines: [""] }]],
  ])("%s", (_what, before, after, parts) => {
    expect(lineDiff(before, after)).toEqual(parts);
  });

  it("loses and invents no line, whatever the texts", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 })
      .map((lines) => lines.map((line) => `${line}\n`).join(""));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const parts = lineDiff(before, after);
        expect(
          sideOf(parts, "removed")
            .map((line) => `${line}\n`)
            .join(""),
        ).toBe(before);
        expect(
          sideOf(parts, "added")
            .map((line) => `${line}\n`)
            .join(""),
        ).toBe(after);
        for (const [at, { kind }] of parts.entries()) expect(kind).not.toBe(parts[at + 1]?.kind);
      }),
      { seed: 7, numRuns: 500 },
    );
  });

  it("shows texts too long to compare as replaced, but for what is equal at both ends", () => {
    const long = (mark: string) =>
      ["head", ...Array.from({ length: 2_000 }, (_, n) => `${mark}${n}`), "tail"].join("\n");
    expect(lineDiff(long("a"), long("b")).map(({ kind, lines }) => [kind, lines.length])).toEqual([
      ["same", 1],
      ["removed", 2_000],
      ["added", 2_000],
      ["same", 1],
    ]);
  });
});
