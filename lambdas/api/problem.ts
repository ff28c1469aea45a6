import type { Context, Hono } from "hono";
import { isFault } from "../../shared/faults/fault.ts";
import { BadRequest } from "../../shared/faults/faults.ts";
import type { Logger } from "../../shared/ports/logger.ts";
import { isFromAnotherSite } from "./same-origin.ts";

/** Bytes of a request body: a run's input at its largest, and room around it. */
const bodyBytesMax = 6 * 1024 * 1024 + 64 * 1024;

/** The answer to anything that went wrong: what was expected, what came, what to do next. No stack trace, nothing of the inside. */
export const problem = (code: string, message: string) => ({ error: { code, message } });

/** Every refusal of a hono app in one shape. */
export function refuseInOneShape(app: Hono, logger: Logger): void {
  app.notFound((c) => c.json(problem("not_found", `there is no ${c.req.method} ${c.req.path}`), 404));
  app.onError((error, c) => {
    if (error instanceof BadRequest)
      return c.json({ error: { code: error.code, message: error.message, ...factsOf(error) } }, error.status);
    const code = isFault(error) ? error.code : error.name;
    logger.error("request failed", { code, method: c.req.method, where: framesOf(error) });
    if (isFault(error)) {
      return c.json(problem(error.code, error.message), error.failureClass === "retryable" ? 503 : 500);
    }
    return c.json(
      problem("internal", "the request failed here, not at your side: try again, then look at the function's log"),
      500,
    );
  });
}

/** Frames of a stack trace that a log line keeps. */
const framesMax = 6;

/** Where it was thrown, without its message: that may quote what the caller sent. */
export const framesOf = ({ stack }: Error): string =>
  (stack ?? "")
    .split("\n")
    .filter((line) => /^\s+at /u.test(line))
    .slice(0, framesMax)
    .map((line) => line.trim())
    .join(" | ");

const factsOf = (error: BadRequest) => (Object.keys(error.facts).length > 0 ? { facts: error.facts } : {});

/**
 * The JSON body of a request that changes something. @throws BadRequest for a body that is too large or not JSON, and 403 for one that a
 * page of another site has its reader's browser send: that needs no permission of ours as long as it calls itself plain text.
 */
export async function jsonBody(c: Context): Promise<unknown> {
  if (isFromAnotherSite(c)) {
    throw new BadRequest(
      "cross_site",
      "a page of another site sent this: call the API from a program, or from its own pages. Nothing was changed",
      403,
    );
  }
  const text = await c.req.text();
  const bytes = Buffer.byteLength(text, "utf8");
  if (bytes > bodyBytesMax) {
    throw new BadRequest(
      "body_too_large",
      `expected a body of at most ${bodyBytesMax} bytes, found ${bytes}: pass a reference instead`,
      413,
    );
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new BadRequest("not_json", "the body is not JSON: send an object with content-type application/json");
  }
}
