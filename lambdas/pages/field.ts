import type { ApprovalField } from "../../shared/approval/approval-view.ts";
import { type DiffPart, lineDiff } from "./line-diff.ts";
import { html, markup, type Markup } from "./markup.ts";
import { moneyText } from "./money.ts";
import { code, countOf, prose, word } from "./words.ts";

/** Entries of a list that are shown at once; the rest is folded. */
const openEntriesMax = 20;
/** Unchanged lines that are kept around a change: as many as tools for code show. */
const contextLines = 3;

/** One field of a view, as a reviewer reads its kind. */
export function fieldValue(field: ApprovalField): Markup {
  switch (field.type) {
    case "money":
      return html`<span class="money">${moneyText(field.amount_cents, field.currency)}</span>`;
    case "addresses":
      return entries(field.list, "address", "addresses");
    case "diff":
      return diff(field.before, field.after);
    case "sql":
      return html`${prose(field.statement, "code")}
        <dl class="pairs">
          <dt>Rows it changes</dt>
          <dd>${rows(field.estimated_rows)}</dd>
          <dt>How to undo it</dt>
          <dd>
            ${field.rollback_plan.trim() === "" ? html`<strong>No plan was given.</strong>` : prose(field.rollback_plan)}
          </dd>
        </dl>`;
    case "branch":
      return branch(field);
    case "text":
      return field.text === "" ? html`<em>empty</em>` : prose(field.text);
    default:
      return field satisfies never;
  }
}

const rows = (estimated: number | null): Markup =>
  estimated === null
    ? html`<strong>Unknown: nobody could estimate them</strong>`
    : html`About <strong>${countOf(estimated, "row")}</strong>`;

function entries(list: readonly string[], one: string, many: string): Markup {
  const items = (some: readonly string[]) =>
    html`<ul class="list">
      ${some.map((entry) => html`<li>${code(entry)}</li>`)}
    </ul>`;
  if (list.length === 0) return html`<em>none</em>`;
  const [shown, rest] = [list.slice(0, openEntriesMax), list.slice(openEntriesMax)];
  const count = list.length === 1 ? `1 ${one}` : `${list.length.toLocaleString("en")} ${many}`;
  if (rest.length === 0) return html`${count}${items(shown)}`;
  return html`${count}${items(shown)}
    <details>
      <summary>Show ${rest.length.toLocaleString("en")} more</summary>
      ${items(rest)}
    </details>`;
}

function branch({ repository, base, head, files }: Extract<ApprovalField, { type: "branch" }>): Markup {
  const row = ({ path, added, removed }: (typeof files)[number]) =>
    html`<tr>
      <td>${code(path)}</td>
      <td class="number">+${added.toLocaleString("en")}</td>
      <td class="number">−${removed.toLocaleString("en")}</td>
    </tr>`;
  const table = (some: typeof files) =>
    html`<table>
      <thead>
        <tr>
          <th scope="col">File</th>
          <th scope="col" class="number">Lines added</th>
          <th scope="col" class="number">Lines removed</th>
        </tr>
      </thead>
      <tbody>
        ${some.map(row)}
      </tbody>
    </table>`;
  const summary = `Show ${countOf(files.length, "file")}`;
  return html`<p>${code(repository)}: merge ${code(head)} into ${code(base)}</p>
    ${files.length === 0 ? html`<p><em>No file is named.</em></p>` : ""}
    ${files.length > 0 && files.length <= openEntriesMax ? table(files) : ""}
    ${
      files.length > openEntriesMax
        ? html`<details>
            <summary>${summary}</summary>
            ${table(files)}
          </details>`
        : ""
    }`;
}

/** Changed lines, marked by a sign and by what they are, never by colour alone. */
export function diff(before: string, after: string): Markup {
  const parts = lineDiff(before, after);
  const isSame = parts.every(({ kind }) => kind === "same");
  if (isSame) return html`<em>No line differs.</em>`;
  return markup`<div class="diff" role="group" aria-label="Changed lines">${parts.map((part, at) => partOf(part, at === 0, at === parts.length - 1))}</div>`;
}

function partOf({ kind, lines }: DiffPart, isFirst: boolean, isLast: boolean): Markup {
  switch (kind) {
    case "removed":
      return markup`${lines.map((line) => markup`<del><span class="unseen">removed: </span><span class="mark" aria-hidden="true">− </span>${line}</del>`)}`;
    case "added":
      return markup`${lines.map((line) => markup`<ins><span class="unseen">added: </span><span class="mark" aria-hidden="true">+ </span>${line}</ins>`)}`;
    case "same": {
      const head = isFirst ? 0 : contextLines;
      const tail = isLast ? 0 : contextLines;
      const same = (some: readonly string[]) => some.map((line) => markup`<span>  ${line}</span>`);
      if (lines.length <= head + tail + 1) return markup`${same(lines)}`;
      const folded = lines.slice(head, lines.length - tail);
      return markup`${same(lines.slice(0, head))}<details><summary>${countOf(folded.length, "line")} unchanged</summary>${folded.map((line) => markup`<div>  ${line}</div>`)}</details>${same(lines.slice(lines.length - tail))}`;
    }
    default:
      return kind satisfies never;
  }
}

/** The fields of a view, each under its label. */
export const fieldList = (fields: readonly ApprovalField[]): Markup =>
  html`<dl class="fields">
    ${fields.map(
      (field) =>
        html`<div>
          <dt>${word(field.label)}</dt>
          <dd>${fieldValue(field)}</dd>
        </div>`,
    )}
  </dl>`;
