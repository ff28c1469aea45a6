import { visibleText } from "../approval/visible-text.ts";
import { Fault } from "../faults/fault.ts";
import type { Channel } from "./channel.ts";
import type { Notice } from "./notice.ts";
import { linkMeaning, noticeSubject } from "./notice-text.ts";

export interface WebhookOptions {
  /** Where it posts to: a secret, as chat programs hand it out. Asked for each message, so that it can be changed. */
  readonly url: () => Promise<string>;
  /** In whose name everybody who reads there decides. @default nobody's: they get the page, which asks who comes */
  readonly approver?: string | undefined;
}

/** A message in the shape of Slack's incoming webhooks, which other chat programs take too. */
export const webhookChannel = ({ url, approver }: WebhookOptions): Channel => ({
  name: "webhook",
  audience: (approvers) => [approver !== undefined && approvers.includes(approver) ? approver : undefined],
  async send(notice, signal) {
    const response = await fetch(await url(), {
      method: "POST",
      headers: { "content-type": "application/json", "x-surefoot-notice-id": notice.notice_id },
      body: JSON.stringify({ text: chatText(notice), unfurl_links: false, unfurl_media: false }),
      // The link goes where it was configured to go, and nowhere else.
      redirect: "error",
      signal,
    }).catch((cause: unknown) => {
      // Never the cause's own words: they may hold the address.
      throw new Fault("webhook_unreachable", "retryable", "the webhook was not reached", { cause });
    });
    await response.body?.cancel();
    if (!response.ok) throw new Fault("webhook_refused", "retryable", `the webhook answered ${response.status}`);
  },
});

/** What stands for markup there is escaped (Slack, "Escaping text"): nobody's title rings a channel or hides a link. */
const plain = (text: string): string =>
  visibleText(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const chatText = (notice: Notice): string =>
  [
    `*${plain(noticeSubject(notice))}*`,
    plain(notice.title),
    `Valid until ${notice.expires_at}`,
    `<${notice.link}|${plain(linkMeaning(notice))}>`,
  ].join("\n");
