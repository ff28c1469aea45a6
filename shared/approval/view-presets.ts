import type { Risk } from "../ledger/ledger-entry.ts";
import type { ApprovalField, ApprovalView } from "./approval-view.ts";

/** What every preset takes beside its request. */
export interface ViewWords {
  /** Why the agent wants it, in its own words. */
  readonly reason?: string;
  /** Raises the tool's risk for this one request. */
  readonly risk?: Risk;
  /** What happens on a yes. Each preset has a sentence of its own. */
  readonly onApprove?: string;
  /** What happens on a no. Default: `Nothing is sent.` */
  readonly onReject?: string;
}

export interface PullRequestToReview extends ViewWords {
  readonly repository: string;
  readonly base: string;
  readonly head: string;
  readonly title: string;
  readonly files: readonly { readonly path: string; readonly added: number; readonly removed: number }[];
  readonly description?: string;
}

/** A pull request: the branch and its files, then its words. */
export const pullRequestView = (request: PullRequestToReview): ApprovalView =>
  viewOf(request, {
    title: `Open a pull request in ${request.repository}`,
    onApprove: `A pull request from ${request.head} into ${request.base} is opened, once.`,
    fields: [
      {
        type: "branch",
        label: "Branch",
        repository: request.repository,
        base: request.base,
        head: request.head,
        files: request.files.map(({ path, added, removed }) => ({ path, added, removed })),
      },
      { type: "text", label: "Title", text: request.title },
      ...textField("Description", request.description),
    ],
  });

export interface EmailToReview extends ViewWords {
  readonly to: string | readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly from?: string;
  readonly subject: string;
  readonly text: string;
}

/** A mail: everybody who gets it, then what they read. */
export function emailView(request: EmailToReview): ApprovalView {
  const to = typeof request.to === "string" ? [request.to] : request.to;
  const readers = to.length + (request.cc?.length ?? 0) + (request.bcc?.length ?? 0);
  return viewOf(request, {
    title: readers === 1 ? `Send a mail to ${to[0] ?? "one reader"}` : `Send a mail to ${readers} readers`,
    onApprove: "The mail is sent once. It cannot be taken back.",
    fields: [
      ...addressesField("From", request.from === undefined ? undefined : [request.from]),
      ...addressesField("To", to),
      ...addressesField("Cc", request.cc),
      ...addressesField("Bcc", request.bcc),
      { type: "text", label: "Subject", text: request.subject },
      { type: "text", label: "Text", text: request.text },
    ],
  });
}

export interface DatabaseChangeToReview extends ViewWords {
  readonly database: string;
  readonly statement: string;
  /** Null where nobody could estimate them. */
  readonly estimatedRows: number | null;
  /** How it is undone. */
  readonly rollbackPlan: string;
  /** What one row looks like before and after. */
  readonly sample?: { readonly before: string; readonly after: string };
}

/** A change of data: the statement, how many rows, and how it is undone. */
export const databaseChangeView = (request: DatabaseChangeToReview): ApprovalView =>
  viewOf(request, {
    title: `Change data in ${request.database}`,
    onApprove: "The statement runs once, as shown.",
    fields: [
      {
        type: "sql",
        label: "Statement",
        statement: request.statement,
        estimated_rows: request.estimatedRows,
        rollback_plan: request.rollbackPlan,
      },
      ...(request.sample ? [{ type: "diff" as const, label: "A row", ...sampleOf(request.sample) }] : []),
    ],
  });

export interface PlainToReview extends ViewWords {
  readonly title: string;
  readonly money?: readonly { readonly label: string; readonly amountCents: number; readonly currency: string }[];
  /** What it is about: a label and its value. Other values than texts are shown as JSON. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** Anything else: amounts first, then each fact by its label. */
export function plainView(request: PlainToReview): ApprovalView {
  const facts = Object.entries(request.facts ?? {}).filter(([, value]) => value !== undefined);
  return viewOf(request, {
    title: request.title,
    onApprove: "Exactly this request is sent, once.",
    fields: [
      ...(request.money ?? []).map(({ label, amountCents, currency }) => ({
        type: "money" as const,
        label,
        amount_cents: amountCents,
        currency,
      })),
      ...facts.map(([label, value]) => ({
        type: "text" as const,
        label,
        text: typeof value === "string" ? value : JSON.stringify(value),
      })),
    ],
  });
}

const viewOf = (
  words: ViewWords,
  view: { readonly title: string; readonly onApprove: string; readonly fields: ApprovalField[] },
): ApprovalView => ({
  title: view.title,
  fields: view.fields,
  ...(words.risk !== undefined && { risk: words.risk }),
  ...(words.reason !== undefined && { reason: words.reason }),
  on_approve: words.onApprove ?? view.onApprove,
  on_reject: words.onReject ?? "Nothing is sent.",
});

const textField = (label: string, text: string | undefined): readonly ApprovalField[] =>
  text === undefined ? [] : [{ type: "text", label, text }];

const addressesField = (label: string, list: readonly string[] | undefined): readonly ApprovalField[] =>
  list === undefined || list.length === 0 ? [] : [{ type: "addresses", label, list: [...list] }];

const sampleOf = ({ before, after }: { readonly before: string; readonly after: string }) => ({ before, after });
