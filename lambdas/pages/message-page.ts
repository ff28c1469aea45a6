import { html, type Markup } from "./markup.ts";
import type { Page } from "./page.ts";

/** What a person is told instead of an approval: what is the matter, and what to do now. */
export function messagePage(title: string, paragraphs: readonly (string | Markup)[], inbox?: string): Page {
  return {
    title,
    ...(inbox !== undefined && { inbox }),
    body: html`<section class="message" aria-labelledby="message">
      <h1 id="message">${title}</h1>
      ${paragraphs.map((paragraph) => html`<p>${paragraph}</p>`)}
    </section>`,
  };
}
