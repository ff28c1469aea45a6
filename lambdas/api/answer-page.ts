import type { Context } from "hono";
import type { DecidedApproval } from "../../shared/run/decide-approval.ts";
import { approvalPage, sayOutcome } from "../pages/approval-page.ts";
import { html, type Markup } from "../pages/markup.ts";
import { sendPage } from "../pages/page.ts";
import type { ShownApproval } from "../pages/shown-approval.ts";
import { word } from "../pages/words.ts";

/** What a decision did, above the approval as it is then. */
export function sendAnswer(
  c: Context,
  answer: DecidedApproval,
  approval: ShownApproval,
  { nowMs, inbox }: { readonly nowMs: number; readonly inbox?: string },
): Response | Promise<Response> {
  const notice = (kind: "good" | "warn", text: Markup) => html`<div class="note ${kind}" role="status">${text}</div>`;
  const page = (said: Markup) => approvalPage(approval, { nowMs, notice: said, inbox });
  switch (answer.kind) {
    case "counted": {
      const missing = answer.quorum - answer.votes.length;
      const text = html`<p>
        Your approval counts. ${String(missing)} more ${missing === 1 ? "person has" : "people have"} to approve.
      </p>`;
      return sendPage(c, 200, page(notice("good", text)));
    }
    case "decided": {
      const { outcome, counts } = answer;
      if (counts) {
        const then = outcome.outcome === "approved" ? approval.view.on_approve : approval.view.on_reject;
        const text = html`<p><strong>${sayOutcome(outcome.outcome)}.</strong> Your decision counts.</p>
          <p dir="auto">${then}</p>`;
        return sendPage(c, 200, page(notice("good", text)));
      }
      const who = outcome.by === undefined ? html`` : html` by ${word(outcome.by)}`;
      const text = html`<p>
        <strong>Your decision came second.</strong> It was decided before: ${sayOutcome(outcome.outcome)}${who}. That
        decision counts.
      </p>`;
      return sendPage(c, 409, page(notice("warn", text)));
    }
    default:
      return answer satisfies never;
  }
}
