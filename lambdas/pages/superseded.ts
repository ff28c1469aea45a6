import type { StaleReason } from "../../shared/approval/approval.ts";
import { html, type Markup } from "./markup.ts";
import type { ShownApproval, ShownSuperseded } from "./shown-approval.ts";
import { instant, prose, word } from "./words.ts";

/** Why an approval counts no more, for whoever does not know the codes. */
export function sayStale(reason: StaleReason): string {
  switch (reason) {
    case "digest_changed":
      return "what would be sent is no longer what was shown";
    case "version_changed":
      return "the agent has been changed since";
    case "expired":
      return "its time was over before anything could be sent";
    case "precondition_failed":
      return "the check right before sending did not pass";
    case "snapshot_changed":
      return "the data it relied on has changed";
    default:
      return reason satisfies never;
  }
}

/** The reason, and what exactly differed where that is known. */
export const staleWords = ({ reason, comment }: Omit<ShownSuperseded, "at">): Markup =>
  html`${sayStale(reason)}${comment === undefined || comment === "" ? "" : html` (${word(comment)})`}`;

/** Above a question that counts no more: since when, why, who had decided it, and where it goes on. */
export function supersededNote(
  { superseded, decision, askedAnew }: ShownApproval & { readonly superseded: ShownSuperseded },
  nowMs: number,
  inbox: string | undefined,
): Markup {
  const had = decision?.outcome === "approved" ? decision : undefined;
  return html`<div class="note warn">
    <p>
      <strong>Replaced</strong>, ${instant(superseded.at, nowMs)}: ${staleWords(superseded)}. Nothing was sent on this
      approval, and nothing will be.
    </p>
    ${had?.by === undefined ? "" : html`<p>${word(had.by)} had approved it, ${instant(had.at, nowMs)}.</p>`}
    ${had?.comment === undefined || had.comment === "" ? "" : html`<div class="quote">${prose(had.comment)}</div>`}
    ${
      inbox !== undefined && askedAnew !== undefined
        ? html`<p><a href="${inbox}/${encodeURIComponent(askedAnew)}">Open what is asked now</a></p>`
        : ""
    }
  </div>`;
}
