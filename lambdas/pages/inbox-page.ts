import { riskBadge } from "./approval-page.ts";
import { html } from "./markup.ts";
import { moneyText } from "./money.ts";
import type { Page } from "./page.ts";
import type { ShownApproval } from "./shown-approval.ts";
import { countOf, instant, word } from "./words.ts";

/** Rows of one page: what a person looks through. The rest is said to exist. */
const rowsMax = 200;

/** Everything that waits for a person, whatever runs out first at the top. Roles are said again, since a phone lays the table out anew. */
export function inboxPage(approvals: readonly ShownApproval[], nowMs: number): Page {
  const rows = [...approvals].sort((a, b) => a.expires_at.localeCompare(b.expires_at)).slice(0, rowsMax);
  return {
    title: "Approvals",
    body: html`<section aria-labelledby="inbox">
      <h1 id="inbox">Approvals</h1>
      ${
        rows.length === 0
          ? html`<p>Nothing waits for a person.</p>`
          : html`<table class="inbox stacks" role="table">
              <caption>
                ${countOf(approvals.length, "approval")} waiting, the first to run out on top
                ${approvals.length > rows.length ? html`; ${countOf(rows.length, "row")} shown` : ""}
              </caption>
              <thead role="rowgroup">
                <tr role="row">
                  <th scope="col" role="columnheader">What is asked</th>
                  <th scope="col" role="columnheader">Risk</th>
                  <th scope="col" role="columnheader">Asked</th>
                  <th scope="col" role="columnheader">Valid until</th>
                </tr>
              </thead>
              <tbody role="rowgroup">
                ${rows.map((approval) => rowOf(approval, nowMs))}
              </tbody>
            </table>`
      }
    </section>`,
  };
}

/** The first amount, where there is one: it is what a reviewer looks for. */
function amountOf({ view }: ShownApproval): string {
  const money = view.fields.find((field) => field.type === "money");
  return money ? `${moneyText(money.amount_cents, money.currency)} · ` : "";
}

const rowOf = (approval: ShownApproval, nowMs: number) =>
  html`<tr role="row">
    <th scope="row" role="rowheader">
      <a href="/approvals/${encodeURIComponent(approval.approval_id)}">${word(approval.view.title)}</a>
      <span class="sub">${amountOf(approval)}${word(approval.agent)}, for ${word(approval.workflow_id)}</span>
    </th>
    <td role="cell" data-label="Risk">${riskBadge(approval.risk)}</td>
    <td role="cell" data-label="Asked">${instant(approval.requested_at, nowMs)}</td>
    <td role="cell" data-label="Valid until">${instant(approval.expires_at, nowMs)}</td>
  </tr>`;
