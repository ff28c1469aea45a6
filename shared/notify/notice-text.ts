import { visibleText } from "../approval/visible-text.ts";
import type { Notice, NoticeKind } from "./notice.ts";

const opening: Readonly<Record<NoticeKind, string>> = {
  requested: "Approval wanted",
  reminder: "Still waits for approval",
  escalation: "Overdue for approval",
};

/** One line, of identifiers alone: it shows on locked screens and in lists. */
export const noticeSubject = ({ kind, agent, workflow_id, risk }: Notice): string =>
  `${opening[kind]}: ${agent}, ${workflow_id} (risk ${risk})`;

/** What the link is, for whoever gets it: one for a person must not be passed on. */
export const linkMeaning = ({ approver }: Notice): string =>
  approver === undefined
    ? "Look at it and decide"
    : `Look at it and decide, as ${approver}; whoever has this link decides in that name, so keep it`;

/** The whole message in plain text. */
export const noticeText = (notice: Notice): string =>
  [
    visibleText(notice.title),
    "",
    `Risk: ${notice.risk}`,
    `Agent: ${notice.agent}, action ${notice.action_name}`,
    `Workflow: ${notice.workflow_id}`,
    `Asked: ${notice.requested_at}`,
    `Valid until: ${notice.expires_at}`,
    "",
    `${linkMeaning(notice)}:`,
    notice.link,
    "",
    "Opening the link decides nothing.",
  ].join("\n");
