import { describe, expect, it } from "vitest";
import { ApprovalView, viewBytesMax } from "../../../shared/approval/approval-view.ts";
import { databaseChangeView, emailView, plainView, pullRequestView } from "../../../shared/approval/view-presets.ts";
import { visibleText } from "../../../shared/approval/visible-text.ts";

const view = (over: Partial<ApprovalView> = {}): ApprovalView => ({
  title: "Send the money",
  fields: [{ type: "money", label: "Amount", amount_cents: 6_000, currency: "EUR" }],
  on_approve: "It is sent.",
  on_reject: "Nothing is sent.",
  ...over,
});
const problems = (value: unknown): readonly string[] =>
  (ApprovalView.safeParse(value).error?.issues ?? []).map((issue) => `${issue.path.join(".")}: ${issue.message}`);

describe("an approval's view", () => {
  it("is refused where free text stands before a fact, and says which field to move", () => {
    const fields: ApprovalView["fields"] = [
      { type: "text", label: "Note", text: "the amount is 1.00" },
      { type: "money", label: "Amount", amount_cents: 6_000, currency: "EUR" },
    ];
    expect(problems(view({ fields }))).toEqual([
      "fields.1: expected free text last, found a money field behind it: move it up",
    ]);
  });

  it("is measured in bytes of UTF-8, not in characters", () => {
    const text = "€".repeat(viewBytesMax / 3);
    expect(text.length).toBeLessThan(viewBytesMax);
    expect(problems(view({ fields: [{ type: "text", label: "Text", text }] }))).toEqual([
      expect.stringMatching(/^: expected a view of at most 262144 bytes, found 262\d{3}/u),
    ]);
  });

  it("takes texts of 50 KB", () => {
    const text = "x".repeat(50_000);
    const parsed = ApprovalView.parse(view({ fields: [{ type: "diff", label: "File", before: text, after: text }] }));
    expect(parsed.fields[0]).toMatchObject({ before: text, after: text });
  });

  it("spells out what would deceive the eye, and keeps what is only another script", () => {
    const parsed = ApprovalView.parse(
      view({ fields: [{ type: "addresses", label: "To", list: ["ann\u202Emoc.live@example.com", "ünal@例え.jp"] }] }),
    );
    expect(parsed.fields[0]).toMatchObject({ list: ["ann<U+202E>moc.live@example.com", "ünal@例え.jp"] });
    expect(visibleText("a\r\nb\u0000\u200Bc 👩‍💻")).toBe("a\nb<U+0000><U+200B>c 👩‍💻");
  });

  it("passes again as it is stored, also where spelling out made it longer", () => {
    const parsed = ApprovalView.parse(view({ title: `\u202E Pay\n\tthem ${"x".repeat(150)}` }));
    expect(parsed.title).toMatch(/^<U\+202E> Pay them x+$/u);
    expect(ApprovalView.parse(parsed)).toEqual(parsed);
  });

  it("has to say what happens on either answer", () => {
    expect(problems(view({ on_reject: " " }))).toEqual(["on_reject: say what happens"]);
  });
});

describe("presets", () => {
  it("show a pull request by its branch and files, then by its words", () => {
    const shown = pullRequestView({
      repository: "shop/web",
      base: "main",
      head: "fix-tax",
      title: "Fix tax",
      description: "Rounds once.",
      files: [{ path: "tax.ts", added: 3, removed: 1 }],
      reason: "The ticket asks for it.",
    });
    expect(ApprovalView.parse(shown)).toEqual({
      title: "Open a pull request in shop/web",
      reason: "The ticket asks for it.",
      fields: [
        {
          type: "branch",
          label: "Branch",
          repository: "shop/web",
          base: "main",
          head: "fix-tax",
          files: [{ path: "tax.ts", added: 3, removed: 1 }],
        },
        { type: "text", label: "Title", text: "Fix tax" },
        { type: "text", label: "Description", text: "Rounds once." },
      ],
      on_approve: "A pull request from fix-tax into main is opened, once.",
      on_reject: "Nothing is sent.",
    });
  });

  it("show a mail by everybody who gets it, hidden readers included", () => {
    const shown = emailView({ to: "ann@example.com", bcc: ["law@example.com"], subject: "Hi", text: "Hello" });
    expect(ApprovalView.parse(shown)).toMatchObject({
      title: "Send a mail to 2 readers",
      fields: [
        { type: "addresses", label: "To", list: ["ann@example.com"] },
        { type: "addresses", label: "Bcc", list: ["law@example.com"] },
        { type: "text", label: "Subject", text: "Hi" },
        { type: "text", label: "Text", text: "Hello" },
      ],
    });
  });

  it("show a change of data by its statement, its rows and how it is undone", () => {
    const shown = databaseChangeView({
      database: "shop",
      statement: "update orders set paid = true",
      estimatedRows: null,
      rollbackPlan: "restore the snapshot of 12:00",
      risk: "high",
    });
    expect(ApprovalView.parse(shown)).toMatchObject({
      risk: "high",
      fields: [{ type: "sql", estimated_rows: null, rollback_plan: "restore the snapshot of 12:00" }],
    });
  });

  it("show anything else by amounts first, then fact by fact", () => {
    const shown = plainView({
      title: "Give a voucher",
      money: [{ label: "Worth", amountCents: 500, currency: "EUR" }],
      facts: { Customer: "ann", Tags: ["a"], Nothing: undefined },
    });
    expect(ApprovalView.parse(shown).fields).toEqual([
      { type: "money", label: "Worth", amount_cents: 500, currency: "EUR" },
      { type: "text", label: "Customer", text: "ann" },
      { type: "text", label: "Tags", text: '["a"]' },
    ]);
  });
});
