import type { ApprovalField, ApprovalView } from "../../shared/approval/approval-view.ts";
import { moneyText } from "./money.ts";

/** A field whose content is another one than before, or that one of the two views lacks; each as plain text. */
export interface ChangedField {
  readonly label: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What differs between the view that was approved before and the one that is asked about now. Fields are the same by label and type. */
export function compareViews(before: ApprovalView, after: ApprovalView): readonly ChangedField[] {
  const keyOf = ({ type, label }: ApprovalField) => `${type} ${label}`;
  const was = new Map(before.fields.map((field) => [keyOf(field), field]));
  const is = new Map(after.fields.map((field) => [keyOf(field), field]));
  const changed = after.fields
    .map((field) => ({ label: field.label, before: textOf(was.get(keyOf(field))), after: textOf(field) }))
    .filter((field) => field.before !== field.after);
  const gone = before.fields
    .filter((field) => !is.has(keyOf(field)))
    .map((field) => ({ label: field.label, before: textOf(field), after: undefined }));
  const around = [
    { label: "Title", before: before.title, after: after.title },
    { label: "What happens when approved", before: before.on_approve, after: after.on_approve },
    { label: "What happens when rejected", before: before.on_reject, after: after.on_reject },
  ].filter((part) => part.before !== part.after);
  return [...changed, ...gone, ...around];
}

function textOf(field: ApprovalField | undefined): string | undefined {
  switch (field?.type) {
    case undefined:
      return undefined;
    case "money":
      return moneyText(field.amount_cents, field.currency);
    case "addresses":
      return field.list.join("\n");
    case "diff":
      return `before:\n${field.before}\nafter:\n${field.after}`;
    case "sql": {
      const rows = field.estimated_rows === null ? "unknown" : String(field.estimated_rows);
      return `${field.statement}\nrows: ${rows}\nto undo it: ${field.rollback_plan}`;
    }
    case "branch": {
      const files = field.files.map(({ path, added, removed }) => `${path} +${added} −${removed}`);
      return [`${field.repository}: ${field.head} into ${field.base}`, ...files].join("\n");
    }
    case "text":
      return field.text;
    default:
      return field satisfies never;
  }
}
