import { z } from "zod";
import { createDecideApp } from "../../lambdas/api/decide-app.ts";
import { withApprovalPages } from "../../lambdas/api/approval-pages.ts";
import { withDecisionForms } from "../../lambdas/api/decide-pages.ts";
import { createReadApp } from "../../lambdas/api/read-app.ts";
import { createRemindApp } from "../../lambdas/api/remind-app.ts";
import { createReviewApp } from "../../lambdas/api/review-app.ts";
import { Hono } from "hono";
import { byKey, days, defineAgent, hours, writeTool } from "../../shared/index.ts";
import type { KeyRing } from "../../shared/link/key-ring.ts";
import { reviewLinks } from "../../shared/link/review-links.ts";
import type { Channel } from "../../shared/notify/channel.ts";
import { oneEach } from "../../shared/notify/channel.ts";
import { dynamoNoticeLog } from "../../shared/notify/dynamo-notice-log.ts";
import type { Notice, NoticeKind } from "../../shared/notify/notice.ts";
import { tellApprovers } from "../../shared/notify/tell-approvers.ts";
import { parseWaiterId, type Waiter } from "../../shared/waiter/waiter.ts";
import type { LocalTables } from "../builders/local-tables.ts";
import { apiWorld } from "./api-world.ts";

export const ann = "ann@example.com";
export const bob = "bob@example.com";
/** Named by the deployment, with a role that the rule asks for. */
export const cleo = "cleo@example.com";
export const host = "agents.example.com";

const Payment = z.object({ order: z.string(), amountCents: z.number().int() });

const pay = writeTool("pay", {
  version: 1,
  risk: "high",
  input: Payment,
  output: z.object({ ref: z.string() }),
  downstream: byKey({ window: hours(24) }),
  semanticFields: ["order", "amountCents"],
  execute: async () => ({ ref: "never called here" }),
});

export interface ReviewRule {
  readonly quorum?: number;
  readonly excludeRequester?: boolean;
}

const agentOf = (name: string, rule: ReviewRule) =>
  defineAgent(name, { version: 1, input: Payment })
    .approval("review", {
      of: "pay",
      show: ({ input }) => ({
        title: `Pay ${input.order}`,
        fields: [{ type: "money", label: "Amount", amount_cents: input.amountCents, currency: "EUR" }],
        on_approve: "The money is sent once.",
        on_reject: "Nothing is sent.",
      }),
      approvers: { names: [ann, bob], roles: ["finance"], ...rule },
      validFor: days(1),
      onReject: "end",
    })
    .write("pay", { tool: pay, with: ({ input }) => input, businessKey: ({ input }) => input.order })
    .end();

export type ReviewWorld = ReturnType<typeof reviewWorld>;

/** The apps that people decide by, over the real tables; what they are told is remembered. */
export function reviewWorld(tables: LocalTables) {
  const agents = {
    one: agentOf("review-by-one", {}),
    two: agentOf("review-by-two", { quorum: 2 }),
    other: agentOf("review-by-another", { excludeRequester: true }),
  };
  const names = Object.values(agents).map(({ name }) => name);
  const world = apiWorld(tables, Object.values(agents));
  let ring: KeyRing = { current: "k1", keys: new Map([["k1", Buffer.alloc(32, 1)]]) };
  let keysFail = false;
  const read = async () => {
    if (keysFail) throw new Error("the store of secrets does not answer");
    return ring;
  };
  const keyRings = { current: read, holding: read };
  const approvers = new Map([[cleo, ["finance"]]]);
  const told: Notice[] = [];
  let fails = false;
  const channel: Channel = {
    name: "recorded",
    audience: oneEach,
    send: async (notice) => {
      if (fails) throw new Error(`refused ${notice.link}`);
      told.push(notice);
    },
  };
  const notices = {
    channels: [channel],
    links: reviewLinks(`https://${host}/`, keyRings),
    approvers,
    log: dynamoNoticeLog(tables.client(), "runs"),
  };
  const ports = { ...world, keyRings, approvers, notices };
  const api = new Hono().route("/", createRemindApp(ports)).route("/", createDecideApp(ports));
  const review = createReviewApp(ports);
  const read_ = withApprovalPages(createReadApp(names, ports), names, ports);
  const decide = withDecisionForms(api, ports);

  let tickets = 0;
  const waiterOf = async (approvalId: string): Promise<Waiter> => {
    const key = parseWaiterId(approvalId);
    const waiter = key && (await world.log.readWaiter(key.runId, key.position));
    if (!waiter) throw new Error(`there is no waiter ${approvalId}`);
    return waiter;
  };

  return {
    ...world,
    told,
    notices,
    keyRings,
    apps: { review, read: read_, decide },
    waiterOf,
    /** A run that waits for people, and the links they were sent. */
    async ask(which: keyof typeof agents = "one", amountCents = 6_000) {
      const order = `ORD-${++tickets}`;
      const parked = await world.park(agents[which], `TICKET-${tickets}`, { order, amountCents });
      const waiter = await waiterOf(parked.approvalId);
      const linkOf = async (approver: string) => new URL(await notices.links.signed(waiter, approver)).pathname;
      return { ...parked, order, waiter, linkOf };
    },
    tell: async (approvalId: string, kind: NoticeKind, occasion?: string) =>
      tellApprovers(await waiterOf(approvalId), kind, ports, occasion),
    /** Another key signs from now on; those in `kept` still verify. */
    rotateKeys(current: string, ...kept: readonly string[]): void {
      const keys = [current, ...kept].map((kid) => [kid, ring.keys.get(kid) ?? Buffer.alloc(32, kid)] as const);
      ring = { current, keys: new Map(keys) };
    },
    keysFail: (now: boolean) => (keysFail = now),
    channelFails: (now: boolean) => (fails = now),
    removeApprover: (name: string) => approvers.delete(name),
  };
}

/** What a browser sends with a form from one of our own pages. */
export const fromOwnPage = { "sec-fetch-site": "same-origin", origin: "null", host } as const;

/** The hidden values of the form on a page. */
export const hiddenOf = (page: string): Record<string, string> =>
  Object.fromEntries(
    [...page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/gu)].map(([, name, value]) => [name, value]),
  ) as Record<string, string>;

export interface Visited {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly title: string;
}

export async function visit(app: Hono, path: string, init: RequestInit = {}, env?: object): Promise<Visited> {
  const response = await app.request(path, init, env);
  const text = await response.text();
  const [, title = ""] = /<h1[^>]*>([^<]*)<\/h1>/u.exec(text) ?? [];
  return { status: response.status, text, headers: response.headers, title };
}

export const openPage = (app: Hono, path: string, env?: object): Promise<Visited> =>
  visit(app, path, { headers: { accept: "text/html,*/*;q=0.8", host } }, env);

export const sendForm = (
  app: Hono,
  path: string,
  values: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = fromOwnPage,
  env?: object,
): Promise<Visited> =>
  visit(
    app,
    path,
    {
      method: "POST",
      body: new URLSearchParams(values).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    },
    env,
  );
