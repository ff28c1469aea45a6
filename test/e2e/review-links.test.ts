import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { parseKeyRing } from "../../shared/link/key-ring.ts";
import { LinkClaim, signLink } from "../../shared/link/review-link.ts";
import { Notice } from "../../shared/notify/notice.ts";
import { isWrite } from "../builders/dynamo-proxy.ts";
import { guardedOutside, type GuardedOutside } from "./guarded-outside.ts";
import { eventually, slowMs, type Stage, startStage } from "./stage.ts";

vi.setConfig({ testTimeout: slowMs, hookTimeout: slowMs });

const ann = "ann@example.com";
const bob = "bob@example.com";
const cleo = "cleo@example.com";
const currency = "EUR";

let stage: Stage;
let outside: GuardedOutside;
/** Every link that was opened here, good or bad. */
const links = new Set<string>();

beforeAll(async () => {
  outside = guardedOutside();
  stage = await startStage({ agents: ["guarded-transfer"], environment: outside.environment });
});
afterAll(async () => {
  await stage?.stop();
  outside?.remove();
});

/** A transfer that Ann asked for, and the links that were sent about it. */
async function asked(name: string) {
  const input = { name, amountCents: 5_000 };
  const body = { agent: "guarded-transfer", workflow_id: name, input, by: ann };
  const { run_id: runId } = (await stage.api.post("/runs", body)).body as { run_id: string };
  const approval = await stage.asked(runId);
  const sent = () => noticesOf(stage.folder).filter(({ approval_id }) => approval_id === approval.approval_id);
  await eventually(
    async () => sent(),
    (some) => some.length >= 2,
  );
  const linkOf = (approver: string) => sent().findLast((notice) => notice.approver === approver)?.link ?? "";
  return { runId, approvalId: approval.approval_id, linkOf, told: () => sent().map(({ approver }) => approver) };
}

const noticesOf = (folder: string): readonly Notice[] =>
  readFileSync(join(folder, "notices.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => Notice.parse(JSON.parse(line)));

interface Page {
  readonly status: number;
  readonly title: string;
  readonly text: string;
}

async function visit(link: string, init: RequestInit = {}): Promise<Page> {
  links.add(link);
  const response = await fetch(link, init);
  const text = await response.text();
  // The gateway gave up on a function that was still starting.
  if (response.status === 503 && text.includes("Service Unavailable")) return visit(link, init);
  const [, title = ""] = /<h1[^>]*>([^<]*)<\/h1>/u.exec(text) ?? [];
  return { status: response.status, title, text };
}
const open = (link: string) => visit(link, { headers: { accept: "text/html" } });

const formOf = ({ text }: Page): string => /name="form" value="([^"]*)"/u.exec(text)?.[1] ?? "";

/** What a browser sends from the page of the link. */
const send = (link: string, values: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) =>
  visit(link, {
    method: "POST",
    headers: { origin: stage.runner.url, ...headers },
    body: new URLSearchParams(values),
  });
const press = async (link: string, decision: "approve" | "reject", comment = "") =>
  send(link, { form: formOf(await open(link)), decision, comment });

const keysFile = () => join(stage.folder, "link-keys.json");
const ring = () => parseKeyRing(readFileSync(keysFile(), "utf8"));
const claimOf = (link: string): LinkClaim =>
  LinkClaim.parse(JSON.parse(Buffer.from(link.split(".").at(-2) ?? "", "base64url").toString("utf8")));
/** A link that this system did sign, about something else than it was sent for. */
const signed = (link: string, over: Partial<LinkClaim>) =>
  `${stage.runner.url}/review/${signLink({ ...claimOf(link), ...over }, ring())}`;
/** The same signature below other words. */
function changed(link: string, over: Partial<LinkClaim>): string {
  const [head, , signature] = link.slice(link.lastIndexOf("/") + 1).split(".");
  const body = Buffer.from(JSON.stringify({ ...claimOf(link), ...over })).toString("base64url");
  return `${stage.runner.url}/review/${head}.${body}.${signature}`;
}

const writesOf = (runId: string) => stage.proxy.requests.filter((it) => isWrite(it) && it.item["run_id"] === runId);
const approvalNow = async (approvalId: string) =>
  (await stage.api.get(`/approvals/${encodeURIComponent(approvalId)}`)) as { status: string; votes: { by: string }[] };

/** Functions start anew, as they do after a deployment or a quiet hour. */
async function restartPages(): Promise<void> {
  const processes = () => stage.runner.lambdas.processes("review");
  for (const { pid } of processes()) process.kill(pid, "SIGKILL");
  await eventually(
    async () => processes(),
    (left) => left.length === 0,
  );
}

test("links go to everybody who may decide, and to nobody who asked", async () => {
  const { told, linkOf } = await asked("told");
  expect(told().sort()).toEqual([bob, cleo]);
  const mine = signed(linkOf(bob), { approver: ann });
  for (const page of [await open(mine), await send(mine, { form: "", decision: "approve" })]) {
    expect(page.status).toBe(403);
  }
  expect(await open(mine)).toMatchObject({ title: "Somebody else decides this" });
});

test("whatever opens a link without pressing its buttons writes nothing: a scanner, a preview, a prefetch, a HEAD", async () => {
  const { runId, approvalId, linkOf } = await asked("scanned");
  const before = writesOf(runId);
  for (const method of ["GET", "HEAD", "OPTIONS"]) {
    for (const purpose of ["scanner", "prefetch"]) {
      await visit(linkOf(bob), { method, headers: { "user-agent": purpose, "sec-purpose": purpose } });
    }
  }
  expect((await open(`${linkOf(bob)}?decision=approve&form=x`)).status).toBe(200);
  expect(writesOf(runId)).toEqual(before);
  expect(await approvalNow(approvalId)).toMatchObject({ status: "pending", votes: [] });
  expect((await stage.run(runId)).status).toBe("WAITING");
});

test("a link that is not good is a page that says why, shows nothing of the approval, and decides nothing", async () => {
  const { runId, approvalId, linkOf } = await asked("refused");
  const other = await asked("other");
  const link = linkOf(bob);
  const refusals: readonly [string, number, string][] = [
    [`${link.slice(0, -43)}${"A".repeat(43)}`, 403, "This link is not valid"],
    [changed(link, { approver: cleo }), 403, "This link is not valid"],
    [changed(link, { expires_at: 4_000_000_000 }), 403, "This link is not valid"],
    [link.slice(0, -4), 404, "This link is incomplete"],
    [`${stage.runner.url}/review/hello`, 404, "This link is incomplete"],
    [link.replace("/review/local.", "/review/k9."), 410, "This link is no longer valid"],
    [signed(link, { expires_at: 1_700_000_000 }), 410, "This link has expired"],
    [signed(link, { approval_id: other.approvalId }), 410, "This question has been replaced"],
    [signed(link, { approver: "dan@example.com" }), 403, "Somebody else decides this"],
  ];
  const before = [...writesOf(runId), ...writesOf(other.runId)];
  const form = formOf(await open(link));
  for (const [refused, status, title] of refusals) {
    for (const page of [await open(refused), await send(refused, { form, decision: "approve" })]) {
      expect(page).toMatchObject({ status, title });
      expect(page.text).toContain('<html lang="en">');
      expect(page.text).not.toContain(currency);
    }
  }
  expect([...writesOf(runId), ...writesOf(other.runId)]).toEqual(before);
  for (const id of [approvalId, other.approvalId]) expect((await approvalNow(id)).status).toBe("pending");
});

test("a form counts from the page of its own link alone", async () => {
  const { runId, linkOf } = await asked("forms");
  const other = await asked("other-form");
  const before = writesOf(runId);
  const form = formOf(await open(linkOf(bob)));
  const foreign = [formOf(await open(linkOf(cleo))), formOf(await open(other.linkOf(bob))), ""];
  for (const given of foreign) {
    expect(await send(linkOf(bob), { form: given, decision: "approve" })).toMatchObject({
      status: 403,
      title: "Nothing was decided",
    });
  }
  for (const headers of [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }]) {
    expect(await send(linkOf(bob), { form, decision: "approve" }, headers)).toMatchObject({
      status: 403,
      title: "Nothing was decided",
    });
  }
  expect(writesOf(runId)).toEqual(before);
});

test("two people's links decide, each counts once however often it is replayed, and the money is sent once", async () => {
  const { runId, approvalId, linkOf } = await asked("decided");
  const form = formOf(await open(linkOf(bob)));
  for (let n = 0; n < 3; n++) {
    const page = await send(linkOf(bob), { form, decision: "approve" });
    expect(page.status).toBe(200);
    expect(page.text).toContain("Your approval counts. 1 more person has to approve.");
  }
  expect(await approvalNow(approvalId)).toMatchObject({ status: "pending", votes: [{ by: bob }] });
  expect(outside.effects("decided")).toEqual([]);

  expect((await press(linkOf(cleo), "approve", "fine")).text).toContain("Your decision counts.");
  expect(await stage.ended(runId)).toMatchObject({ status: "SUCCEEDED", outcome: "completed" });

  // The same word is the same decision; another one, and the page, are refused.
  expect((await send(linkOf(bob), { form, decision: "approve" })).status).toBe(200);
  expect((await send(linkOf(bob), { form, decision: "reject" })).status).toBe(409);
  expect(await open(linkOf(bob))).toMatchObject({ status: 410, title: "This has been decided" });
  expect(outside.effects("decided")).toEqual(["decided 5000"]);
});

test("keys are changed without breaking open links, and a key that is removed takes its links with it", async () => {
  const { linkOf } = await asked("rotated");
  const old = linkOf(bob);
  const { keys } = JSON.parse(readFileSync(keysFile(), "utf8")) as { readonly keys: Readonly<Record<string, string>> };
  const k2 = Buffer.alloc(32, "another").toString("base64");

  writeFileSync(keysFile(), JSON.stringify({ current: "k2", keys: { ...keys, k2 } }));
  await restartPages();
  expect((await open(old)).status).toBe(200);
  const fresh = signed(old, {});
  expect(fresh).toContain("/review/k2.");
  expect((await open(fresh)).status).toBe(200);

  writeFileSync(keysFile(), JSON.stringify({ current: "k2", keys: { k2 } }));
  await restartPages();
  expect(await open(old)).toMatchObject({ status: 410, title: "This link is no longer valid" });
  expect((await open(fresh)).status).toBe(200);
  expect((await press(fresh, "approve")).text).toContain("Your approval counts.");
});

test("no link, no part of one, and no task token is in any function's log", () => {
  const logs = readdirSync(join(stage.folder, "logs")).map((file) =>
    readFileSync(join(stage.folder, "logs", file), "utf8"),
  );
  // The scan would find it: what is logged names runs.
  expect(logs.join("\n")).toContain("review link refused");
  const sent = noticesOf(stage.folder).flatMap(({ link, approver }) => (approver === undefined ? [] : [link]));
  const parts = [...links, ...sent].flatMap((link) => (link.split("/review/")[1] ?? "").split("."));
  const tokens = stage.proxy.requests.flatMap(({ values }) => {
    const token = values[":token"];
    return typeof token === "string" ? [token] : [];
  });
  const secrets = [...parts.filter((part) => part.length > 16), ...tokens];
  expect(sent.length).toBeGreaterThan(10);
  expect(tokens.length).toBeGreaterThan(5);
  for (const secret of new Set(secrets)) {
    expect(logs.filter((log) => log.includes(secret))).toEqual([]);
  }
});
