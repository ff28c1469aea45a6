import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { signLink } from "../../../shared/link/review-link.ts";
import { retireRun } from "../../../shared/run/retire-run.ts";
import { localTables } from "../../builders/local-tables.ts";
import { secretToken } from "../api-world.ts";
import { ann, bob, cleo, hiddenOf, openPage, type ReviewWorld, reviewWorld, sendForm, visit } from "../review-world.ts";

const tables = localTables();
const dayMs = 24 * 3_600_000;
let world: ReviewWorld;
let asked: Awaited<ReturnType<ReviewWorld["ask"]>>;
let link: string;

beforeAll(() => {
  world = reviewWorld(tables);
});
beforeEach(async () => {
  world.rotateKeys("k1");
  asked = await world.ask();
  link = await asked.linkOf(ann);
});

const open = (path = link) => openPage(world.apps.review, path);
const send = (values: Readonly<Record<string, string>>, path = link, headers?: Readonly<Record<string, string>>) =>
  sendForm(world.apps.review, path, values, headers);
/** As a person does it: opens the link, then presses a button. */
async function press(decision: "approve" | "reject", path = link, comment = "") {
  return send({ ...hiddenOf((await open(path)).text), decision, comment }, path);
}
const stepOf = () => world.log.readStep(asked.waiter.run_id, asked.waiter.position);

describe("a signed link", () => {
  test("shows what would be done, to whom it was sent, and keeps nothing", async () => {
    const { status, text, headers, title } = await open();

    expect(status).toBe(200);
    expect(title).toBe(`Pay ${asked.order}`);
    expect(text).toContain("EUR 60.00");
    expect(text).toContain(`You decide as <strong><bdi>${ann}</bdi></strong>`);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/u,
    );
    expect(text).not.toContain(secretToken);
    expect(text).not.toMatch(/<script|javascript:|\son\w+=/iu);
  });

  test("decides nothing by being opened, however often and by whatever", async () => {
    const before = await world.traces();
    for (const headers of [{}, { "user-agent": "mail scanner", "sec-fetch-site": "none" }, { purpose: "prefetch" }]) {
      expect((await visit(world.apps.review, link, { headers })).status).toBe(200);
    }
    expect((await visit(world.apps.review, `${link}?decision=approve`)).status).toBe(200);
    expect((await visit(world.apps.review, link, { method: "HEAD" })).status).toBe(200);

    expect(await world.traces()).toEqual(before);
    expect(await stepOf()).toBeUndefined();
  });

  test("approves by its form, in the name it was sent to, and wakes the run", async () => {
    const { status, text } = await press("approve", link, "fine by me");

    expect(status).toBe(200);
    expect(text).toContain("<strong>Approved.</strong> Your decision counts.");
    expect(text).toContain("The money is sent once.");
    expect((await world.get(asked.path)).body).toMatchObject({
      status: "approved",
      decision: { by: ann, known_by: "link", comment: "fine by me" },
    });
    expect(world.woken.at(-1)).toEqual({ taskToken: secretToken });
  });

  test("rejects with the reviewer's words, line breaks counted once", async () => {
    const comment = "a\r\n".repeat(2_000);
    const { status } = await press("reject", link, comment);

    expect(status).toBe(200);
    expect((await world.get(asked.path)).body).toMatchObject({
      status: "rejected",
      decision: { by: ann, comment: "a\n".repeat(2_000) },
    });
  });

  test("an empty comment is none", async () => {
    await press("approve");
    expect((await world.get(asked.path)).body.decision).not.toHaveProperty("comment");
  });

  test("pressed twice is one decision, and the second click is told that it counts", async () => {
    const page = hiddenOf((await open()).text);
    const answers = await Promise.all([1, 2, 3].map(() => send({ ...page, decision: "approve" })));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  test("second to another person's decision is 409 and names the one that counts", async () => {
    const mine = hiddenOf((await open()).text);
    await press("reject", await asked.linkOf(bob));
    const { status, text } = await send({ ...mine, decision: "approve" });

    expect(status).toBe(409);
    expect(text).toContain("Your decision came second.");
    expect(text).toContain(`Rejected by <bdi>${bob}</bdi>`);
  });

  test("of somebody whom the deployment names counts by the role they have there", async () => {
    expect((await press("approve", await asked.linkOf(cleo))).status).toBe(200);
    expect((await world.get(asked.path)).body.decision).toMatchObject({ by: cleo, known_by: "link" });
  });

  test("outlives a rotation of the keys, and its form too", async () => {
    const page = hiddenOf((await open()).text);
    world.rotateKeys("k2", "k1");

    expect((await open()).status).toBe(200);
    expect((await send({ ...page, decision: "approve" })).status).toBe(200);
  });
});

describe("a link that is refused says so to a person, decides nothing and is not logged", () => {
  const forged = () => {
    const [path, kid, body] = [link.slice(0, link.indexOf("k1.")), "k1", link.split(".")[1]];
    return `${path}${kid}.${body}.${"A".repeat(43)}`;
  };
  test.each<[string, () => string | Promise<string>, number, string]>([
    ["forged", forged, 403, "This link is not valid"],
    ["cut by a mail program", () => link.slice(0, -5), 404, "This link is incomplete"],
    ["made up", () => "/review/hello", 404, "This link is incomplete"],
    ["by a key that was removed", () => (world.rotateKeys("k2"), link), 410, "This link is no longer valid"],
    [
      "to an approval that does not exist",
      () => signed({ approval_id: "run-1:0000.review" }),
      404,
      "There is no such approval",
    ],
    [
      "to another approval's question",
      async () => signed({ approval_id: (await world.ask()).approvalId }),
      410,
      "This question has been replaced",
    ],
    ["to somebody whom nobody names", () => signed({ approver: "dan@example.com" }), 403, "Somebody else decides this"],
  ])("%s", async (_what, path, status, title) => {
    const refused = await path();
    const before = await world.traces();
    const lines = world.logger.lines.length;
    for (const answer of [await open(refused), await send({ form: "k1.x", decision: "approve" }, refused)]) {
      expect(answer).toMatchObject({ status, title });
      expect(answer.text).toContain('<html lang="en">');
      expect(answer.text).not.toContain("EUR 60.00");
    }
    expect(await world.traces()).toEqual(before);
    const logged = JSON.stringify(world.logger.lines.slice(lines));
    expect(logged).not.toContain(refused.slice("/review/".length));
  });

  const signed = async (over: object) => {
    const ring = await world.keyRings.current();
    const { askedDigest } = await import("../../../shared/link/asked-digest.ts");
    const claim = {
      approval_id: asked.approvalId,
      approver: ann,
      asked: askedDigest(asked.waiter),
      expires_at: Math.floor(Date.parse(asked.waiter.expires_at) / 1_000),
    };
    return `/review/${signLink({ ...claim, ...over }, ring)}`;
  };

  test("after its time", async () => {
    const page = hiddenOf((await open()).text);
    world.clock.advance(dayMs + 1_000);
    const before = await world.traces();

    expect(await open()).toMatchObject({ status: 410, title: "This link has expired" });
    expect(await send({ ...page, decision: "approve" })).toMatchObject({ status: 410, title: "This link has expired" });
    expect(await world.traces()).toEqual(before);
  });

  test("once it is decided: opening it says by whom, and shows no form", async () => {
    await press("approve", await asked.linkOf(bob));
    const { status, title, text } = await open();

    expect({ status, title }).toEqual({ status: 410, title: "This has been decided" });
    expect(text).toContain(`Approved by <bdi>${bob}</bdi>`);
    expect(text).not.toContain("<form");
  });

  test("once what was asked counts no more", async () => {
    const page = hiddenOf((await open()).text);
    const at = "2026-09-02T12:00:00.000Z";
    await world.log.supersede(asked.waiter, { reason: "digest_changed", at });

    expect(await open()).toMatchObject({ status: 410, title: "This question has been replaced" });
    expect(await send({ ...page, decision: "approve" })).toMatchObject({ status: 410 });
    expect(await stepOf()).toBeUndefined();
  });

  test("once its run has ended", async () => {
    const page = hiddenOf((await open()).text);
    const run = await world.log.readRun(asked.runId);
    if (run) await world.log.change(run, ["WAITING"], { status: "CANCELLED" });

    expect(await send({ ...page, decision: "approve" })).toMatchObject({
      status: 409,
      title: "Nobody need decide any more",
    });
    expect(await stepOf()).toBeUndefined();
  });

  test("once the version of its run was retired, in words for who cannot read versions", async () => {
    const page = hiddenOf((await open()).text);
    const retirement = { at: "2026-09-02T12:00:00.000Z", by: "kim", reason: "sends the wrong amount" };
    expect(await retireRun(asked.runId, 1, retirement, world.log)).toBe("marked");

    expect(await send({ ...page, decision: "approve" })).toMatchObject({
      status: 409,
      title: "Nothing can be decided now",
    });
    expect(await stepOf()).toBeUndefined();
  });

  test("once its approver is no longer named: who left keeps the link and no say", async () => {
    const gone = await asked.linkOf(cleo);
    expect((await open(gone)).status).toBe(200);
    world.removeApprover(cleo);

    expect(await open(gone)).toMatchObject({ status: 403, title: "Somebody else decides this" });
  });

  test("while the keys cannot be read it is asked for patience, and nothing of the inside is told", async () => {
    world.keysFail(true);
    const answer = await open();
    world.keysFail(false);

    expect(answer).toMatchObject({ status: 503, title: "Try again" });
    expect(answer.text).not.toContain("store of secrets");
  });
});

describe("where several have to approve", () => {
  test("each link is one person's, and the page says how many more", async () => {
    const two = await world.ask("two");
    const first = await press("approve", await two.linkOf(ann));
    expect(first.status).toBe(200);
    expect(first.text).toContain("Your approval counts. 1 more person has to approve.");

    const mine = await open(await two.linkOf(ann));
    expect(mine.text).toContain("You have approved this. Others have to as well.");
    expect(mine.text).not.toContain("<form");
    const his = await open(await two.linkOf(bob));
    expect(his.text).toContain("1 of 2 have approved; 1 more must.");
    expect(his.text).toContain("<form");

    const second = await press("approve", await two.linkOf(bob));
    expect(second.text).toContain("<strong>Approved.</strong> Your decision counts.");
    expect((await world.get(two.path)).body.decision.votes).toHaveLength(2);
  });

  test("the same person's link pressed again does not count twice", async () => {
    const two = await world.ask("two");
    const path = await two.linkOf(ann);
    const page = hiddenOf((await open(path)).text);
    for (let n = 0; n < 3; n++) await send({ ...page, decision: "approve" }, path);

    expect((await world.get(two.path)).body).toMatchObject({ status: "pending", votes: [{ by: ann }] });
  });
});

test("an address without a link is a page, too", async () => {
  expect(await openPage(world.apps.review, "/review/")).toMatchObject({ status: 404, title: "There is no such page" });
});
