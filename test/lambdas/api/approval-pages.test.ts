import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { localTables } from "../../builders/local-tables.ts";
import { secretToken } from "../api-world.ts";
import {
  ann,
  fromOwnPage,
  hiddenOf,
  openPage,
  type ReviewWorld,
  reviewWorld,
  sendForm,
  visit,
} from "../review-world.ts";

const tables = localTables();
let world: ReviewWorld;
let asked: Awaited<ReturnType<ReviewWorld["ask"]>>;

beforeAll(() => {
  world = reviewWorld(tables);
});
beforeEach(async () => {
  asked = await world.ask();
});

const byToken = (claims: object) => ({ event: { requestContext: { authorizer: { jwt: { claims } } } } });
const annsToken = byToken({ iss: "https://id.example", sub: "u-1", email: ann, email_verified: "true" });
const send = (values: Readonly<Record<string, string>>, env?: object, headers?: Readonly<Record<string, string>>) =>
  sendForm(world.apps.decide, asked.path, values, headers, env);

describe("the same address", () => {
  const accept = (value: string) =>
    visit(world.apps.read, asked.path, { headers: value === "" ? {} : { accept: value } });

  test.each([
    "text/html",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8",
    "application/json;q=0.1, text/html",
  ])("is a page for whoever asks for one: %s", async (value) => {
    const { status, headers, text } = await accept(value);

    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=UTF-8");
    expect(headers.get("vary")).toBe("Accept");
    expect(text).toContain(`Pay ${asked.order}`);
    expect(text).not.toContain(secretToken);
  });

  test.each(["", "*/*", "application/json", "application/json, text/html;q=0.5", "image/png"])(
    "is JSON as it was for everybody else: %j",
    async (value) => {
      const { headers, text } = await accept(value);

      expect(headers.get("content-type")).toBe("application/json");
      expect(headers.get("vary")).toBe("Accept");
      expect(JSON.parse(text)).toEqual((await world.get(asked.path)).body);
    },
  );

  test("that leads to nothing is a page for people and JSON for programs", async () => {
    expect(await openPage(world.apps.read, "/approvals/run-1:0000.review")).toMatchObject({
      status: 404,
      title: "There is no such approval",
    });
    const { status, text } = await visit(world.apps.read, "/approvals/run-1:0000.review");
    expect(status).toBe(404);
    expect(JSON.parse(text)).toMatchObject({ error: { code: "unknown_approval" } });
  });

  test("of other lists stays JSON, whoever asks", async () => {
    const { headers } = await openPage(world.apps.read, "/runs");
    expect(headers.get("content-type")).toBe("application/json");
  });
});

describe("the list of approvals", () => {
  test("shows what waits with its amount, and where to decide it", async () => {
    const { status, text, title } = await openPage(world.apps.read, "/approvals");

    expect({ status, title }).toEqual({ status: 200, title: "Approvals" });
    expect(text).toContain(`href="/approvals/${encodeURIComponent(asked.approvalId)}"`);
    expect(text).toContain("EUR 60.00");
    expect(text).not.toContain(secretToken);
  });

  test("has what runs out first on top, and nothing that is decided", async () => {
    world.clock.advance(1_000);
    const later = await world.ask();
    await world.post(asked.path, { decision: "approve", by: ann });
    world.clock.advance(1_000);
    const last = await world.ask();
    const { text } = await openPage(world.apps.read, "/approvals");

    expect(text).not.toContain(encodeURIComponent(asked.approvalId));
    const at = (id: string) => text.indexOf(encodeURIComponent(id));
    expect(at(later.approvalId)).toBeGreaterThan(0);
    expect(at(later.approvalId)).toBeLessThan(at(last.approvalId));
  });
});

describe("the page of an approval", () => {
  test("asks for a name where the API knows nobody, and takes it with the decision", async () => {
    const page = await openPage(world.apps.read, asked.path);
    expect(page.text).toContain('<label for="by">Your name</label>');
    const answer = await send({ ...hiddenOf(page.text), decision: "approve", by: ann, comment: "fine" });

    expect(answer.status).toBe(200);
    expect(answer.text).toContain("Your decision counts.");
    expect((await world.get(asked.path)).body.decision).toMatchObject({
      by: ann,
      known_by: "claimed",
      comment: "fine",
    });
  });

  test("decides as whom the API knows, whatever name is sent", async () => {
    const page = await openPage(world.apps.read, asked.path, annsToken);
    expect(page.text).toContain(`You decide as <strong><bdi>${ann}</bdi></strong>`);
    expect(page.text).not.toContain('id="by"');
    await send({ ...hiddenOf(page.text), decision: "reject", by: "the-boss" }, annsToken);

    expect((await world.get(asked.path)).body.decision).toMatchObject({
      outcome: "rejected",
      by: ann,
      known_by: "jwt",
    });
  });

  test("gives a claimed name the roles that the deployment gives it", async () => {
    const { text } = await openPage(world.apps.read, asked.path);
    expect((await send({ ...hiddenOf(text), decision: "approve", by: "dan@example.com" })).status).toBe(403);
    expect((await send({ ...hiddenOf(text), decision: "approve", by: "cleo@example.com" })).status).toBe(200);
  });

  test.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>, number]>([
    ["from another site", { decision: "approve", by: ann }, { ...fromOwnPage, "sec-fetch-site": "cross-site" }, 403],
    ["without a name", { decision: "approve" }, fromOwnPage, 400],
    ["of something else than was shown", { decision: "approve", by: ann, asked: "f".repeat(64) }, fromOwnPage, 409],
  ])("decides nothing %s", async (_what, values, headers, status) => {
    const { text } = await openPage(world.apps.read, asked.path);
    const answer = await send({ ...hiddenOf(text), ...values }, undefined, headers);

    expect(answer.status).toBe(status);
    expect(answer.text).toContain("<h1");
    expect((await world.get(asked.path)).body.status).toBe("pending");
  });

  test("shows a decision and no form once there is one", async () => {
    await world.post(asked.path, { decision: "reject", by: ann, comment: "<b>too much</b>" });
    const { text, status } = await openPage(world.apps.read, asked.path);

    expect(status).toBe(200);
    expect(text).toContain(`<strong>Rejected</strong> by <bdi>${ann}</bdi>`);
    expect(text).toContain("&lt;b&gt;too much&lt;/b&gt;");
    expect(text).not.toContain("<form");
  });

  test("leaves JSON decisions as they are", async () => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ decision: "approve", by: ann });
    const { status, text } = await visit(world.apps.decide, asked.path, { method: "POST", headers, body });

    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ approval_id: asked.approvalId, decision: { by: ann } });
  });
});
