import { describe, expect, it } from "vitest";
import { compareViews } from "../../../lambdas/pages/compare-views.ts";
import { diff, fieldList, fieldValue } from "../../../lambdas/pages/field.ts";
import type { ApprovalField, ApprovalView } from "../../../shared/approval/approval-view.ts";

/** The words of a page, without its markup, as a screen reader says them. */
const wordsOf = (markup: unknown): string =>
  String(markup)
    .replaceAll(/<span class="mark" aria-hidden="true">[^<]*<\/span>/gu, "")
    .replaceAll(/<[^>]+>/gu, " ")
    .replaceAll(/\s+/gu, " ")
    .trim();

describe("a field", () => {
  it.each<[ApprovalField, string]>([
    [{ type: "money", label: "l", amount_cents: 6_000, currency: "eur" }, "EUR 60.00"],
    [{ type: "addresses", label: "l", list: ["a@x.test"] }, "1 address a@x.test"],
    [{ type: "addresses", label: "l", list: [] }, "none"],
    [{ type: "text", label: "l", text: "" }, "empty"],
    [
      { type: "sql", label: "l", statement: "DELETE FROM t", estimated_rows: 12_000, rollback_plan: "restore it" },
      "DELETE FROM t Rows it changes About 12,000 rows How to undo it restore it",
    ],
    [
      { type: "sql", label: "l", statement: "DROP TABLE t", estimated_rows: null, rollback_plan: " " },
      "DROP TABLE t Rows it changes Unknown: nobody could estimate them How to undo it No plan was given.",
    ],
    [
      {
        type: "branch",
        label: "l",
        repository: "shop/api",
        base: "main",
        head: "fix",
        files: [{ path: "src/a.ts", added: 3, removed: 1 }],
      },
      "shop/api : merge fix into main File Lines added Lines removed src/a.ts +3 −1",
    ],
    [
      { type: "branch", label: "l", repository: "r", base: "b", head: "h", files: [] },
      "r : merge h into b No file is named.",
    ],
  ])("says what it means: %j", (field, words) => {
    expect(wordsOf(fieldValue(field))).toBe(words);
  });

  it("of a thousand addresses shows twenty and keeps the rest within reach", () => {
    const list = Array.from({ length: 1_000 }, (_, n) => `user-${n}@example.com`);
    const shown = String(fieldValue({ type: "addresses", label: "To", list }));

    expect(shown).toContain("1,000 addresses");
    expect(shown).toContain("<summary>Show 980 more</summary>");
    expect(shown.slice(0, shown.indexOf("<details>"))).not.toContain("user-20@");
    expect(shown).toContain("user-999@");
  });

  it("never lets its words become markup, label included", () => {
    const hostile = `</dd><script>alert(1)</script>"'`;
    const fields: ApprovalField[] = [
      { type: "addresses", label: hostile, list: [hostile] },
      { type: "diff", label: hostile, before: hostile, after: `${hostile}2` },
      { type: "sql", label: hostile, statement: hostile, estimated_rows: 1, rollback_plan: hostile },
      {
        type: "branch",
        label: hostile,
        repository: hostile,
        base: hostile,
        head: hostile,
        files: [{ path: hostile, added: 1, removed: 1 }],
      },
      { type: "text", label: hostile, text: hostile },
    ];

    const shown = String(fieldList(fields));
    expect(shown).not.toMatch(/<script|<\/dd><script/u);
    expect(shown.match(/&lt;script&gt;/gu)?.length).toBeGreaterThanOrEqual(13);
  });
});

describe("changed lines", () => {
  it("are marked by a sign, and for whoever does not see it by a word", () => {
    const shown = String(diff("a\nb", "a\nc"));

    expect(shown).toContain(
      '<del><span class="unseen">removed: </span><span class="mark" aria-hidden="true">− </span>b</del>',
    );
    expect(shown).toContain(
      '<ins><span class="unseen">added: </span><span class="mark" aria-hidden="true">+ </span>c</ins>',
    );
    expect(wordsOf(shown)).toBe("a removed: b added: c");
  });

  it("keep three unchanged lines around them, and fold the others", () => {
    const lines = Array.from({ length: 40 }, (_, n) => `line ${n}`);
    const shown = String(diff(lines.join("\n"), lines.with(20, "changed").join("\n")));

    expect(shown).toContain("<summary>17 lines unchanged</summary>");
    expect(shown).toContain("<summary>16 lines unchanged</summary>");
    expect(shown.replaceAll(/<details>.*?<\/details>/gu, "")).toContain("line 17");
    expect(shown.replaceAll(/<details>.*?<\/details>/gu, "")).not.toContain("line 16");
  });

  it("are none where nothing differs", () => {
    expect(wordsOf(diff("a", "a"))).toBe("No line differs.");
  });
});

describe("a view beside the one that was approved before", () => {
  const view = (fields: ApprovalField[], over: Partial<ApprovalView> = {}): ApprovalView => ({
    title: "Refund",
    fields,
    on_approve: "It is sent.",
    on_reject: "Nothing happens.",
    ...over,
  });
  const amount = (cents: number): ApprovalField => ({
    type: "money",
    label: "Amount",
    amount_cents: cents,
    currency: "EUR",
  });

  it("differs in the fields that changed, came and went, each as text", () => {
    const before = view([amount(5_000), { type: "text", label: "Note", text: "n" }]);
    const after = view([amount(6_000), { type: "addresses", label: "To", list: ["a@x.test"] }], {
      on_approve: "It is sent twice.",
    });

    expect(compareViews(before, after)).toEqual([
      { label: "Amount", before: "EUR 50.00", after: "EUR 60.00" },
      { label: "To", before: undefined, after: "a@x.test" },
      { label: "Note", before: "n", after: undefined },
      { label: "What happens when approved", before: "It is sent.", after: "It is sent twice." },
    ]);
  });

  it("differs in nothing where it is the same", () => {
    expect(compareViews(view([amount(1)]), view([amount(1)]))).toEqual([]);
  });
});
