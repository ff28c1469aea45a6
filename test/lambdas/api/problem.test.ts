import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import { refuseAsPages } from "../../../lambdas/api/page-problem.ts";
import { jsonBody, refuseInOneShape } from "../../../lambdas/api/problem.ts";
import { Fault } from "../../../shared/faults/fault.ts";
import { ManualClock } from "../../builders/manual-clock.ts";
import { RecordingLogger } from "../../builders/recording-logger.ts";

const secret = "sk-live-4711";
const host = "agents.example.com";

/** An app that throws what it is told, and answers with the body it was sent. */
function appThat(throws?: () => never) {
  const logger = new RecordingLogger();
  const [api, pages] = [new Hono(), new Hono()];
  refuseInOneShape(api, logger);
  refuseAsPages(pages, { logger, clock: new ManualClock() });
  for (const app of [api, pages]) app.get("/fails", () => throws?.() ?? new Response());
  api.post("/", async (c) => c.json({ got: await jsonBody(c) }));
  return { api, pages, logged: () => JSON.stringify(logger.lines) };
}

const failures: readonly [string, () => never, number, string][] = [
  [
    "an error that nobody expected",
    () => {
      throw new TypeError(`cannot read ${secret} of undefined`);
    },
    500,
    "internal",
  ],
  [
    "a fault that passes",
    () => {
      throw new Fault("throttled", "retryable", "the table is busy", { cause: new Error(secret) });
    },
    503,
    "throttled",
  ],
  [
    "a fault that stays",
    () => {
      throw new Fault("record_corrupt", "final", "a record has another shape", { cause: new Error(secret) });
    },
    500,
    "record_corrupt",
  ],
];

describe("a failure inside", () => {
  test.each(failures)("%s is JSON with a code for programs, and tells nothing of the inside", async (...failure) => {
    const [, throws, status, code] = failure;
    const { api, logged } = appThat(throws);
    const answer = await api.request("/fails");
    const text = await answer.text();

    expect(answer.status).toBe(status);
    expect(JSON.parse(text)).toEqual({ error: { code, message: expect.any(String) as string } });
    expect(text).not.toMatch(/\bat .*\.ts|node_modules|stack/u);
    for (const said of [text, logged()]) expect(said).not.toContain(secret);
    // Whoever looks at the log finds the place.
    expect(logged()).toContain("problem.test.ts");
  });

  test.each(failures)("%s is a page for people, and tells nothing of the inside", async (_what, throws) => {
    const { pages, logged } = appThat(throws);
    const answer = await pages.request("/fails");
    const text = await answer.text();

    expect(answer.status).toBe(503);
    expect(text).toContain('<h1 id="message">Try again</h1>');
    const said = text.replace(/<style>[\s\S]*?<\/style>/u, "");
    expect(said).not.toMatch(/\bat .*\.ts|node_modules|stack/u);
    for (const shown of [text, logged()]) expect(shown).not.toContain(secret);
    expect(logged()).toContain("problem.test.ts");
  });

  test("an address that leads nowhere is named, in the shape of every refusal", async () => {
    const { api, pages } = appThat();
    expect(await (await api.request("/nowhere")).json()).toEqual({
      error: { code: "not_found", message: "there is no GET /nowhere" },
    });
    expect((await pages.request("/nowhere")).status).toBe(404);
  });
});

describe("a request that changes something", () => {
  const post = async (headers: Readonly<Record<string, string>>, body = '{"a":1}') => {
    const answer = await appThat().api.request("/", { method: "POST", headers: { host, ...headers }, body });
    return { status: answer.status, body: (await answer.json()) as { got?: unknown; error?: { code: string } } };
  };

  test.each<[string, Readonly<Record<string, string>>]>([
    ["a program, which says nothing of where it comes from", { "content-type": "application/json" }],
    ["a page of ours", { "sec-fetch-site": "same-origin", origin: `https://${host}` }],
    ["a page of ours in a browser without fetch metadata", { origin: `https://${host}` }],
  ])("is taken from %s", async (_who, headers) => {
    expect(await post(headers)).toEqual({ status: 200, body: { got: { a: 1 } } });
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ["another site, as plain text, which browsers send unasked", { "sec-fetch-site": "cross-site" }],
    ["a sibling domain", { "sec-fetch-site": "same-site", origin: "https://other.example.com" }],
    ["another origin, in a browser without fetch metadata", { origin: "https://evil.example" }],
    ["another port of this machine", { origin: `https://${host}:8443` }],
    ["an origin that hides", { origin: "null" }],
  ])("is refused from %s", async (_who, headers) => {
    const { status, body } = await post({ "content-type": "text/plain", ...headers });
    expect([status, body.error?.code]).toEqual([403, "cross_site"]);
  });

  test("is refused where it is no JSON, or too large to be any", async () => {
    expect((await post({}, "yes")).body.error?.code).toBe("not_json");
    const { status, body } = await post({}, `"${"x".repeat(7 * 1024 * 1024)}"`);
    expect([status, body.error?.code]).toEqual([413, "body_too_large"]);
  });
});
