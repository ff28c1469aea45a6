import type { Context } from "hono";

/**
 * Whether a request comes from a page of ours, or straight from its user: a browser says so itself, and no page of somebody else can make it
 * say otherwise. One that says nothing at all is not believed. (Our pages send no referrer, which makes browsers say `Origin: null`.)
 */
export function isSameOrigin(c: Context): boolean {
  const site = c.req.header("sec-fetch-site");
  const origin = c.req.header("origin");
  if (site !== undefined && site !== "same-origin" && site !== "none") return false;
  if (origin === undefined || origin === "null") return site !== undefined;
  return URL.canParse(origin) && new URL(origin).host === c.req.header("host");
}

/** Whether a browser sends it from a page of somebody else. Programs say nothing of the kind: who they are is asked in other ways. */
export function isFromAnotherSite(c: Context): boolean {
  const isBrowser = c.req.header("sec-fetch-site") !== undefined || c.req.header("origin") !== undefined;
  return isBrowser && !isSameOrigin(c);
}
