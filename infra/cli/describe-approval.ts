import { moneyText } from "../../lambdas/pages/money.ts";
import type { Approval } from "./api-shapes.ts";

/** An approval as a reviewer reads it: the fields first, the agent's own words last. */
export function describeApproval(approval: Approval): string {
  return [
    `${approval.approval_id}  ${approval.status}`,
    `${approval.view.title}  (${approval.action_name}, risk ${approval.risk}, until ${approval.expires_at})`,
    ...approval.view.fields.map((field) => `  ${field.label}: ${indented(valueOf(field))}`),
    ...(approval.view.reason === undefined ? [] : [`  The agent says: ${indented(approval.view.reason)}`]),
    `  Approve: ${approval.view.on_approve}`,
    `  Reject:  ${approval.view.on_reject}`,
    `  Decided by: ${approval.approvers.in_words}${approval.requested_by === undefined ? "" : `; started by ${approval.requested_by.by}`}`,
    ...approval.votes.map((vote) => `  Yes from ${saidBy(vote)}`),
    ...standing(approval),
  ].join("\n");
}

/** How it ended, where it has. */
function standing({ decision, superseded, run_id }: Approval): readonly string[] {
  return [
    ...(decision ? [`  ${decision.outcome} by ${saidBy(decision)}`] : []),
    ...(superseded
      ? [
          `  It counts no more since ${superseded.at}: ${superseded.reason}${superseded.comment === undefined ? "" : ` (${superseded.comment})`}. Nothing was sent on it; surefoot trace ${run_id} shows how it went on`,
        ]
      : []),
  ];
}

const saidBy = ({ by, at, comment }: { by?: string | undefined; at: string; comment?: string | undefined }): string =>
  `${by ?? "nobody"} at ${at}${comment === undefined ? "" : `: ${indented(comment)}`}`;

type Field = Approval["view"]["fields"][number];

function valueOf(field: Field): string {
  switch (field.type) {
    case "money":
      return moneyText(field.amount_cents, field.currency);
    case "addresses":
      return field.list.join(", ");
    case "diff":
      return lines([...prefixed("- ", field.before), ...prefixed("+ ", field.after)]);
    case "sql":
      return lines([
        ...field.statement.split("\n"),
        `Rows: ${field.estimated_rows === null ? "nobody could estimate them" : `about ${field.estimated_rows}`}`,
        `To undo it: ${field.rollback_plan}`,
      ]);
    case "branch":
      return lines([
        `${field.repository}: ${field.head} into ${field.base}`,
        ...field.files.map(({ path, added, removed }) => `${path} +${added} -${removed}`),
      ]);
    case "text":
      return field.text;
    default:
      return field satisfies never;
  }
}

const prefixed = (prefix: string, text: string): readonly string[] => text.split("\n").map((line) => prefix + line);

/** Starts below the label. */
const lines = (all: readonly string[]): string => ["", ...all].join("\n");

const indented = (text: string): string => text.replaceAll("\n", "\n    ");
