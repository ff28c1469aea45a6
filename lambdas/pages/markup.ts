import { html as escaping } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";

/** Markup that is escaped already, and may stand in other markup as it is. */
export type Markup = HtmlEscapedString;

/** Markup in which every value is escaped unless it is markup itself. Values are there already: nothing is waited for. */
export function html(strings: TemplateStringsArray, ...values: readonly unknown[]): Markup {
  const made = escaping(strings, ...values);
  if (made instanceof Promise) throw new TypeError("expected values that are there, found a promise: await it first");
  return made;
}

/** The same for text in which every space shows: a formatter of code leaves a template of this name alone. */
export const markup = html;
