import { visibleText } from "../../shared/approval/visible-text.ts";
import { markup, type Markup } from "./markup.ts";

/** Characters that are shown of a long text before it is folded: about a dozen lines. */
const openCharsMax = 1_200;
const openLinesMax = 16;

/** Somebody's word or name within a line: escaped, with what deceives the eye spelled out, and its direction kept to itself. */
export const word = (text: string): Markup => markup`<bdi>${visibleText(text)}</bdi>`;

/** Identifiers, paths, statements: read from left to right, whatever letters they hold. */
export const code = (text: string): Markup => markup`<bdi dir="ltr">${visibleText(text)}</bdi>`;

/**
 * Somebody's text of any length and direction. A long one is folded behind its beginning, and says how long it is: nobody has to scroll
 * past it to the buttons, and nothing of it is out of reach.
 */
export function prose(text: string, kind: "text" | "code" = "text"): Markup {
  const shown = visibleText(text);
  const lines = shown.split("\n");
  const isLong = shown.length > openCharsMax || lines.length > openLinesMax;
  const open = isLong ? beginning(lines) : shown;
  const block = (of: string) =>
    kind === "code"
      ? markup`<div class="code" dir="ltr">${of}</div>`
      : markup`<div class="text" dir="auto">${of}</div>`;
  if (!isLong) return block(open);
  const size = `all ${countOf(shown.length, "character")} in ${countOf(lines.length, "line")}`;
  return markup`${block(`${open} …`)}<details><summary>Show ${size}</summary>${block(shown)}</details>`;
}

const beginning = (lines: readonly string[]): string => {
  const cut = lines.slice(0, openLinesMax).join("\n").slice(0, openCharsMax);
  // Never half of a character.
  return cut.replace(/[\uD800-\uDBFF]$/u, "");
};

/** `1 row`, `12,000 rows`. */
export const countOf = (count: number, noun: string): string =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** An instant as people read it, in UTC and said so, and how far away it is. */
export function instant(iso: string, nowMs: number): Markup {
  const atMs = Date.parse(iso);
  if (Number.isNaN(atMs)) return markup`${iso}`;
  return markup`<time datetime="${iso}">${dateText(atMs)}</time> <span class="sub">${distance(atMs - nowMs)}</span>`;
}

/** `9 Sep 2026, 12:00 UTC`: the same on every machine. */
function dateText(atMs: number): string {
  const [, day, month, year, time] = /^\w+, 0?(\d+) (\w+) (\d+) (\d+:\d+)/u.exec(new Date(atMs).toUTCString()) ?? [];
  return `${day} ${month} ${year}, ${time} UTC`;
}

const minuteMs = 60_000;
/** Each from where its count is at least two when rounded: `1 day` may be anything from half a day on. */
const units = [
  { noun: "day", unitMs: 24 * 60 * minuteMs, fromMs: 36 * 60 * minuteMs },
  { noun: "hour", unitMs: 60 * minuteMs, fromMs: 90 * minuteMs },
  { noun: "minute", unitMs: minuteMs, fromMs: minuteMs },
] as const;

/** `in 3 days`, `2 hours ago`, rounded to the largest unit that says enough. */
export function distance(ms: number): string {
  const size = Math.abs(ms);
  const unit = units.find(({ fromMs }) => size >= fromMs);
  if (!unit) return ms >= 0 ? "in less than a minute" : "just now";
  const count = countOf(Math.round(size / unit.unitMs), unit.noun);
  return ms >= 0 ? `in ${count}` : `${count} ago`;
}
