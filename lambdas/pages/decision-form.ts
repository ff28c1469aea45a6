import { html, type Markup } from "./markup.ts";
import type { ShownApproval } from "./shown-approval.ts";
import { word } from "./words.ts";

/** Characters of a comment: a reviewer's paragraph, not a document. */
const commentCharsMax = 4_000;
const nameCharsMax = 256;

export interface DecisionForm {
  /** Who decides, as the link or API Gateway knows it. Without it the form asks for a name. */
  readonly approver: string | undefined;
  /** Values that go back with the decision: what was seen, and proof that it came from here. */
  readonly hidden: Readonly<Record<string, string>>;
}

/** Two buttons that say what they do, and a comment. It posts to the address of its page, which then decides. */
export function decisionForm(
  { view, quorum, goesOnRejected }: ShownApproval,
  { approver, hidden }: DecisionForm,
): Markup {
  return html`<section aria-labelledby="decide">
    <h2 id="decide">Your decision</h2>
    <dl class="consequences">
      <dt>If you approve</dt>
      <dd dir="auto">${view.on_approve}${quorum > 1 ? html` This takes ${String(quorum)} people.` : ""}</dd>
      <dt>If you reject</dt>
      <dd dir="auto">${view.on_reject}</dd>
    </dl>
    <form method="post">
      ${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
      ${
        approver === undefined
          ? html`<label for="by">Your name</label>
              <p class="hint" id="by-hint">It is recorded with the decision.</p>
              <input
                type="text"
                id="by"
                name="by"
                required
                maxlength="${nameCharsMax}"
                autocomplete="name"
                aria-describedby="by-hint"
              />`
          : html`<p>You decide as <strong>${word(approver)}</strong>.</p>`
      }
      <label for="comment">Comment (optional)</label>
      <p class="hint" id="comment-hint">
        Recorded with the decision.${goesOnRejected ? " If you reject, the agent reads it and goes on with it." : ""}
      </p>
      <textarea
        id="comment"
        name="comment"
        maxlength="${commentCharsMax}"
        dir="auto"
        aria-describedby="comment-hint"
      ></textarea>
      <div class="buttons">
        <button class="approve" name="decision" value="approve">Approve</button>
        <button class="reject" name="decision" value="reject">Reject</button>
      </div>
    </form>
  </section>`;
}
