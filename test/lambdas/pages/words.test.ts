import { describe, expect, it } from "vitest";
import { moneyText } from "../../../lambdas/pages/money.ts";
import { distance, instant, prose, word } from "../../../lambdas/pages/words.ts";

describe("money", () => {
  it.each([
    [6_000, "eur", "EUR 60.00"],
    [5, "USD", "USD 0.05"],
    [0, "USD", "USD 0.00"],
    [123_456_789, "GBP", "GBP 1,234,567.89"],
    [-2_550, "CHF", "CHF −25.50"],
    [6_000, "JPY", "JPY 6,000"],
    [1_500, "KWD", "KWD 1.500"],
    [Number.MAX_SAFE_INTEGER, "EUR", "EUR 90,071,992,547,409.91"],
  ])("%d of %s is %s", (units, currency, text) => {
    expect(moneyText(units, currency)).toBe(text);
  });
});

describe("an instant", () => {
  const nowMs = Date.UTC(2026, 8, 2, 12);

  it("is said in UTC with its distance", () => {
    expect(String(instant("2026-09-09T12:00:00.000Z", nowMs))).toBe(
      '<time datetime="2026-09-09T12:00:00.000Z">9 Sep 2026, 12:00 UTC</time> <span class="sub">in 7 days</span>',
    );
  });

  it.each([
    [89 * 60_000, "in 89 minutes"],
    [90 * 60_000, "in 2 hours"],
    [-35 * 3_600_000, "35 hours ago"],
    [7 * 86_400_000 - 1, "in 7 days"],
    [-3 * 86_400_000 - 1, "3 days ago"],
    [59_999, "in less than a minute"],
    [-1, "just now"],
    [60_000, "in 1 minute"],
  ])("%d ms away is %s", (ms, text) => {
    expect(distance(ms)).toBe(text);
  });

  it("that is none is shown as it is, escaped", () => {
    expect(String(instant("<b>", nowMs))).toBe("&lt;b&gt;");
  });
});

describe("somebody's text", () => {
  it("is escaped, kept to its own direction, and what deceives the eye is spelled out", () => {
    expect(String(word("<img src=x onerror=alert(1)>"))).toBe("<bdi>&lt;img src=x onerror=alert(1)&gt;</bdi>");
    expect(String(word("gpj.\u202Eexe"))).toBe("<bdi>gpj.&lt;U+202E&gt;exe</bdi>");
    expect(String(prose('"שלום" & more'))).toBe('<div class="text" dir="auto">&quot;שלום&quot; &amp; more</div>');
  });

  it("is folded behind its beginning where it is long, and all of it is there", () => {
    const text = `${"x".repeat(50_000)}END`;
    const shown = String(prose(text));

    expect(shown).toContain("<summary>Show all 50,003 characters in 1 line</summary>");
    expect(shown).toMatch(/^<div class="text" dir="auto">x{1200} …<\/div><details>/u);
    expect(shown).toContain(`<div class="text" dir="auto">${text}</div></details>`);
  });

  it("is folded where it has many lines, and never cut within a character", () => {
    expect(String(prose("line\n".repeat(17)))).toContain("<summary>Show all 85 characters in 18 lines</summary>");
    const emoji = String(prose(`${"x".repeat(1_199)}🙂`.padEnd(2_000, "y")));
    expect(emoji.slice(0, emoji.indexOf("…"))).not.toMatch(/\p{Cs}/u);
  });
});
