import { compareViews } from "./compare-views.ts";
import { decisionForm, type DecisionForm } from "./decision-form.ts";
import { diff, fieldList } from "./field.ts";
import { html, type Markup } from "./markup.ts";
import type { Page } from "./page.ts";
import type { EarlierApproval, ShownApproval, ShownDecision, ShownVote } from "./shown-approval.ts";
import { staleWords, supersededNote } from "./superseded.ts";
import { code, instant, prose, word } from "./words.ts";

export interface ApprovalPageOptions {
  readonly nowMs: number;
  /** Absent where this reader cannot decide, or nobody can any more. */
  readonly form?: DecisionForm | undefined;
  /** Said above everything else: what the last click did. */
  readonly notice?: Markup | undefined;
  readonly inbox?: string | undefined;
}

/** Everything a reviewer needs to decide one approval: what, why, what happens then, until when, and who said what. */
export function approvalPage(approval: ShownApproval, { nowMs, form, notice, inbox }: ApprovalPageOptions): Page {
  const { view } = approval;
  const isOpen = approval.status === "pending";
  return {
    title: titleOf(approval, form !== undefined),
    ...(inbox !== undefined && { inbox }),
    body: html`
      ${notice ?? ""}
      <section aria-labelledby="asked">
        <h1 id="asked" dir="auto">${view.title}</h1>
        ${facts(approval, nowMs)}
      </section>
      ${notice ? "" : standing(approval, nowMs, inbox)}
      ${approval.before ? changesSince(approval.before, approval, nowMs) : ""}
      <section aria-labelledby="content-of-it">
        <h2 id="content-of-it">${isOpen ? "What would be done" : "What was asked"}</h2>
        ${fieldList(view.fields)}
      </section>
      ${
        view.reason === undefined
          ? ""
          : html`<section aria-labelledby="reason">
              <h2 id="reason">Why, in the agent’s own words</h2>
              <div class="quote">${prose(view.reason)}</div>
            </section>`
      }
      ${history(approval, nowMs)} ${isOpen && form ? decisionForm(approval, form) : ""} ${identifiers(approval)}
    `,
  };
}

/** Of the window: a screen reader says it first, so it tells whether there is something to do. */
function titleOf({ view, status }: ShownApproval, decides: boolean): string {
  if (status !== "pending") return `${view.title}: ${status}`;
  return decides ? `Review: ${view.title}` : `${view.title}: waits for others`;
}

/** How it ended, where it has. */
function standing(approval: ShownApproval, nowMs: number, inbox: string | undefined): Markup | "" {
  const { superseded, decision } = approval;
  if (superseded) return supersededNote({ ...approval, superseded }, nowMs, inbox);
  return decision ? decisionNote(decision, nowMs) : "";
}

function facts(
  { status, risk, agent, workflow_id, expires_at, requested_at, requested_by, rule }: ShownApproval,
  nowMs: number,
): Markup {
  const fact = (name: string, value: Markup) =>
    html`<dt>${name}</dt>
      <dd>${value}</dd>`;
  return html`<dl class="facts">
    ${fact("Status", statusBadge(status))} ${fact("Risk", riskBadge(risk))}
    ${fact("Agent", html`${word(agent)}, for ${word(workflow_id)}`)}
    ${requested_by === undefined ? "" : fact("Started by", word(requested_by))}
    ${fact("Asked", instant(requested_at, nowMs))} ${fact("Valid until", instant(expires_at, nowMs))}
    ${fact("Decided by", word(rule))}
  </dl>`;
}

const badgeOfStatus: Readonly<Record<string, string>> = { pending: "warn", approved: "good", rejected: "bad" };

export const statusBadge = (status: string): Markup =>
  html`<span class="badge ${badgeOfStatus[status] ?? "plain"}"
    >${status === "pending" ? "waits for a decision" : status}</span
  >`;

const badgeOfRisk: Readonly<Record<string, string>> = { high: "bad", medium: "warn" };

export const riskBadge = (risk: string): Markup =>
  html`<span class="badge ${badgeOfRisk[risk] ?? "plain"}">${risk}</span>`;

function decisionNote({ outcome, by, at, comment }: ShownDecision, nowMs: number): Markup {
  const kind = badgeOfStatus[outcome] === "warn" ? "plain" : (badgeOfStatus[outcome] ?? "plain");
  return html`<div class="note ${kind}">
    <p>
      <strong>${sayOutcome(outcome)}</strong>${by === undefined ? "" : html` by ${word(by)}`}, ${instant(at, nowMs)}.
    </p>
    ${comment === undefined || comment === "" ? "" : html`<div class="quote">${prose(comment)}</div>`}
  </div>`;
}

export function sayOutcome(outcome: string): string {
  switch (outcome) {
    case "approved":
      return "Approved";
    case "rejected":
      return "Rejected";
    case "expired":
      return "Expired: nobody decided in time, and nothing was sent";
    case "cancelled":
      return "Withdrawn: nobody need decide any more";
    case "superseded":
      return "Replaced: what was asked has changed, and it is asked anew";
    default:
      return outcome;
  }
}

/** Asked again: a reviewer looks for what is different, and must not have to find it. */
function changesSince(before: EarlierApproval, { view }: ShownApproval, nowMs: number): Markup {
  const changes = compareViews(before.view, view);
  return html`<section aria-labelledby="changes">
    <h2 id="changes">What changed since it was ${before.outcome}</h2>
    <p>
      ${before.by === undefined ? "Somebody" : word(before.by)} ${before.outcome} this, ${instant(before.at, nowMs)}.
      ${before.superseded ? html`That no longer counts: ${staleWords(before.superseded)}.` : "It is asked again."}
    </p>
    ${before.comment === undefined || before.comment === "" ? "" : html`<div class="quote">${prose(before.comment)}</div>`}
    ${
      changes.length === 0
        ? html`<p>Nothing that is shown differs.</p>`
        : html`<dl class="fields">
            ${changes.map(
              (change) =>
                html`<div>
                  <dt>${word(change.label)}</dt>
                  <dd>${diff(change.before ?? "", change.after ?? "")}</dd>
                </div>`,
            )}
          </dl>`
    }
  </section>`;
}

/** Roles are said again, since a phone lays the table out anew. */
function history({ votes, quorum, status }: ShownApproval, nowMs: number): Markup {
  if (votes.length === 0 && quorum <= 1) return html``;
  const missing = quorum - votes.filter(({ word: said }) => said === "approved").length;
  const row = ({ word: said, by, known_by, at, comment }: ShownVote) =>
    html`<tr role="row">
      <th scope="row" role="rowheader">${word(by)} <span class="sub">known by ${known_by}</span></th>
      <td role="cell" data-label="Decision">${said}</td>
      <td role="cell" data-label="When">${instant(at, nowMs)}</td>
      <td role="cell" data-label="Comment">${comment === undefined || comment === "" ? "–" : prose(comment)}</td>
    </tr>`;
  return html`<section aria-labelledby="votes">
    <h2 id="votes">Who decided so far</h2>
    ${
      votes.length === 0
        ? ""
        : html`<table class="stacks" role="table">
            <thead role="rowgroup">
              <tr role="row">
                <th scope="col" role="columnheader">Who</th>
                <th scope="col" role="columnheader">Decision</th>
                <th scope="col" role="columnheader">When</th>
                <th scope="col" role="columnheader">Comment</th>
              </tr>
            </thead>
            <tbody role="rowgroup">
              ${votes.map(row)}
            </tbody>
          </table>`
    }
    ${
      status === "pending" && missing > 0
        ? html`<p>${String(quorum - missing)} of ${String(quorum)} have approved; ${String(missing)} more must.</p>`
        : ""
    }
  </section>`;
}

const identifiers = (approval: ShownApproval): Markup =>
  html`<details class="card">
    <summary>For the record</summary>
    <dl class="pairs">
      <dt>Approval</dt>
      <dd>${code(approval.approval_id)}</dd>
      <dt>Run</dt>
      <dd>${code(approval.run_id)}</dd>
      <dt>Action</dt>
      <dd>${code(approval.action_name)}</dd>
      <dt>Operation</dt>
      <dd>${code(approval.operation_id)}</dd>
      <dt>Digest of the request</dt>
      <dd>${code(approval.payload_digest)}</dd>
    </dl>
  </details>`;
