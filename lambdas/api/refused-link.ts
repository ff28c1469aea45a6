import type { Context } from "hono";
import type { Clock } from "../../shared/ports/clock.ts";
import type { Logger } from "../../shared/ports/logger.ts";
import type { LinkClaim, LinkRefusal } from "../../shared/link/review-link.ts";
import { sayOutcome } from "../pages/approval-page.ts";
import { html, type Markup } from "../pages/markup.ts";
import { messagePage } from "../pages/message-page.ts";
import { sendPage } from "../pages/page.ts";
import type { ShownDecision } from "../pages/shown-approval.ts";
import { instant, word } from "../pages/words.ts";

/** Beside what the link itself tells: `changed` what was asked, `decided` by now, its approver `not_named` any more. */
type Refused = LinkRefusal | "changed" | "decided" | "not_named";

/** A link is good for nothing. It carries what its signature vouches for, and never the link itself. */
export class LinkRefused extends Error {
  override readonly name = "LinkRefused";
  readonly why: Refused;
  readonly claim: LinkClaim | undefined;
  readonly decision: ShownDecision | undefined;
  constructor(why: Refused, claim?: LinkClaim, decision?: ShownDecision) {
    super(`a review link was refused: ${why}`);
    this.why = why;
    this.claim = claim;
    this.decision = decision;
  }
}

interface Wording {
  readonly status: 403 | 404 | 410;
  readonly title: string;
  readonly paragraphs: readonly string[];
}

const askAgain = "Ask whoever sent it for a new one: surefoot remind sends it.";

/** A link that was once good is gone (410); one that never was is forbidden or not found. */
const wordings: Readonly<Record<Refused, Wording>> = {
  malformed: {
    status: 404,
    title: "This link is incomplete",
    paragraphs: [
      "A mail program may have cut it, or a part was lost when it was copied.",
      "Open it from the message, or copy all of it.",
    ],
  },
  forged: {
    status: 403,
    title: "This link is not valid",
    paragraphs: [
      "It was changed on its way, or was not made by this system. Open it from the message that was sent to you.",
    ],
  },
  key_unknown: {
    status: 410,
    title: "This link is no longer valid",
    paragraphs: ["The key it was signed with has been replaced since.", askAgain],
  },
  expired: {
    status: 410,
    title: "This link has expired",
    paragraphs: [
      "The time to decide is over. If nobody had decided by then, nothing is sent on this approval any more.",
    ],
  },
  changed: {
    status: 410,
    title: "This question has been replaced",
    paragraphs: [
      "What was asked has changed since this link was sent, so it cannot be decided any more.",
      "If it is asked anew, a new link is sent.",
    ],
  },
  decided: { status: 410, title: "This has been decided", paragraphs: [] },
  not_named: {
    status: 403,
    title: "Somebody else decides this",
    paragraphs: ["You are no longer among those who may decide this approval."],
  },
};

/** The page for a refused link, with the status that fits. The log says which approval, never which link. */
export function sendRefusedLink(
  c: Context,
  { why, claim, decision }: LinkRefused,
  { logger, clock }: { readonly logger: Logger; readonly clock: Clock },
): Response | Promise<Response> {
  logger.info("review link refused", { why, ...(claim && { approval_id: claim.approval_id }) });
  const { status, title, paragraphs } = wordings[why];
  const said = decision ? [sayDecision(decision, clock.nowMs())] : [];
  const nothing =
    why === "decided" ? "The link was good for one decision, and there is one." : "Nothing was decided just now.";
  return sendPage(c, status, messagePage(title, [...said, ...paragraphs, nothing]));
}

const sayDecision = ({ outcome, by, at }: ShownDecision, nowMs: number): Markup =>
  html`${sayOutcome(outcome)}${by === undefined ? "" : html` by ${word(by)}`}, ${instant(at, nowMs)}.`;
