import type { Context } from "hono";
import { raw } from "hono/html";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { html, type Markup } from "./markup.ts";
import { styles, stylesHash } from "./styles.ts";

export interface Page {
  /** Of the window, and read first by a screen reader. */
  readonly title: string;
  readonly body: Markup;
  /** Where the list of approvals lies, for readers who may see it. A signed link opens one approval only. */
  readonly inbox?: string;
}

/** Nothing runs, nothing is loaded, nothing frames it, nothing keeps it, and no address of it goes anywhere else. */
const headers = {
  "content-security-policy": [
    "default-src 'none'",
    `style-src '${stylesHash}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "x-robots-tag": "noindex, nofollow",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "strict-transport-security": "max-age=31536000",
} as const;

/** Answers with a page that works without scripts. */
export function sendPage(c: Context, status: ContentfulStatusCode, page: Page): Response | Promise<Response> {
  return c.html(layout(page), status, headers);
}

/** Made in one piece: the policy's digest is of every character between the tags. */
const styleSheet = raw(`<style>${styles}</style>`);

const layout = ({ title, body, inbox }: Page): Markup =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} – Surefoot</title>
        ${styleSheet}
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
          <p>Surefoot</p>
          ${inbox === undefined ? "" : html`<nav aria-label="Approvals"><a href="${inbox}">All approvals</a></nav>`}
        </header>
        <main id="content">${body}</main>
        <footer>Nothing is sent before somebody decides. Whoever decides is recorded.</footer>
      </body>
    </html>`;
