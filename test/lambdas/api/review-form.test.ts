import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { localTables } from "../../builders/local-tables.ts";
import {
  ann,
  bob,
  fromOwnPage,
  hiddenOf,
  host,
  openPage,
  type ReviewWorld,
  reviewWorld,
  sendForm,
  visit,
} from "../review-world.ts";

const tables = localTables();
let world: ReviewWorld;
let asked: Awaited<ReturnType<ReviewWorld["ask"]>>;
let link: string;

beforeAll(() => {
  world = reviewWorld(tables);
});
beforeEach(async () => {
  asked = await world.ask();
  link = await asked.linkOf(ann);
});

const open = (path = link) => openPage(world.apps.review, path);
const send = (values: Readonly<Record<string, string>>, path = link, headers?: Readonly<Record<string, string>>) =>
  sendForm(world.apps.review, path, values, headers);
const stepOf = () => world.log.readStep(asked.waiter.run_id, asked.waiter.position);
const another = async () => (await world.ask()).linkOf(ann);

describe("a form that did not come from the link's own page decides nothing", () => {
  test.each<[string, Readonly<Record<string, string>>]>([
    ["another site, as its browser says", { ...fromOwnPage, "sec-fetch-site": "cross-site" }],
    ["a sibling domain", { ...fromOwnPage, "sec-fetch-site": "same-site" }],
    ["another origin", { host, origin: "https://evil.example" }],
    ["another port", { host, origin: `https://${host}:8443` }],
    ["an origin that is none", { host, origin: "file://" }],
    ["nothing that says where it comes from", { host }],
    ["a hidden origin alone", { host, origin: "null" }],
  ])("%s", async (_what, headers) => {
    const page = hiddenOf((await open()).text);
    const answer = await send({ ...page, decision: "approve" }, link, headers);

    expect(answer).toMatchObject({ status: 403, title: "Nothing was decided" });
    expect(await stepOf()).toBeUndefined();
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ["a browser without fetch metadata", { host, origin: `https://${host}` }],
    ["a reload of its answer, which the user asks for", { host, origin: `https://${host}`, "sec-fetch-site": "none" }],
  ])("though one from it does: %s", async (_what, headers) => {
    const page = hiddenOf((await open()).text);
    expect((await send({ ...page, decision: "approve" }, link, headers)).status).toBe(200);
  });

  test.each<[string, () => Promise<Readonly<Record<string, string>>>]>([
    ["no form token", async () => ({})],
    ["a made-up one", async () => ({ form: `k1.${"A".repeat(43)}` })],
    ["that of another person's link", async () => hiddenOf((await open(await asked.linkOf(bob))).text)],
    ["that of another approval", async () => hiddenOf((await open(await another())).text)],
  ])("%s", async (_what, values) => {
    const answer = await send({ ...(await values()), decision: "approve" });

    expect(answer).toMatchObject({ status: 403, title: "Nothing was decided" });
    expect(await stepOf()).toBeUndefined();
  });

  test.each<[string, Readonly<Record<string, string>>, number]>([
    ["no decision", {}, 400],
    ["another word", { decision: "maybe" }, 400],
    ["a comment beyond the limit", { decision: "reject", comment: "x".repeat(4_001) }, 400],
    ["more than a form can hold", { decision: "reject", comment: "x".repeat(70_000) }, 413],
  ])("nor does one with %s", async (_what, values, status) => {
    const page = hiddenOf((await open()).text);
    expect((await send({ ...page, ...values })).status).toBe(status);
    expect(await stepOf()).toBeUndefined();
  });

  test("nor does JSON", async () => {
    const { form } = hiddenOf((await open()).text);
    const headers = { "content-type": "application/json", ...fromOwnPage };
    const body = JSON.stringify({ decision: "approve", form });

    expect((await visit(world.apps.review, link, { method: "POST", headers, body })).status).toBe(400);
    expect(await stepOf()).toBeUndefined();
  });
});
