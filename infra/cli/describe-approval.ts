import type { Approval } from "./api-shapes.ts";

/** An approval as a reviewer reads it: the fields first, the agent's own words last. */
export function describeApproval(approval: Approval): string {
  return [
    `${approval.approval_id}  ${approval.status}`,
    `${approval.view.title}  (${approval.action_name}, risk ${approval.risk}, until ${approval.expires_at})`,
    ...approval.view.fields.map((field) => `  ${field.label}: ${valueOf(field)}`),
    ...(approval.view.reason === undefined ? [] : [`  The agent says: ${approval.view.reason}`]),
    `  Approve: ${approval.view.on_approve}`,
    `  Reject:  ${approval.view.on_reject}`,
  ].join("\n");
}

function valueOf(field: Approval["view"]["fields"][number]): string {
  const { amount_cents, currency, text, items } = field as {
    readonly amount_cents?: number;
    readonly currency?: string;
    readonly text?: string;
    readonly items?: readonly string[];
  };
  if (amount_cents !== undefined) return `${(amount_cents / 100).toFixed(2)} ${(currency ?? "").toUpperCase()}`;
  return text ?? items?.join(", ") ?? "";
}
