import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";

/** What WCAG 2.1 AA asks of text of usual size: 1.4.3. */
const textContrastMin = 4.5;
/** Of the edges of what is operated: 1.4.11. */
const edgeContrastMin = 3;

/** It runs in the page, where there is a document; here there is none. */
const script = readFileSync(new URL("./find-faults.js", import.meta.url), "utf8");

/**
 * Looks for what would keep somebody from using the page with a screen reader, a keyboard or weak eyes: language, landmarks, headings,
 * names of what is operated, table headers, unique ids, contrast. @returns each fault in words; nothing is what a page should give.
 */
export const accessibilityFaults = (page: Page): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>(`(${script})(${textContrastMin}, ${edgeContrastMin})`);

/** What the focused element says or is, and the ring around it. */
export const focusOf = (page: Page) =>
  page.evaluate<{ readonly what: string; readonly ring: string }>(`(() => {
    const at = document.activeElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(at);
    return { what: at.textContent.trim() || at.id || at.tagName, ring: outlineStyle + " " + outlineWidth };
  })()`);

/** The height of the whole page, in pixels. */
export const heightOf = (page: Page) => page.evaluate<number>("document.documentElement.scrollHeight");

/** Which way a text is read, as the browser has it. */
export const directionOf = (locator: Locator): Promise<string> =>
  locator.evaluate((element) => {
    const { getComputedStyle } = globalThis as unknown as {
      readonly getComputedStyle: (of: unknown) => { readonly direction: string };
    };
    return getComputedStyle(element).direction;
  });
