import { z } from "zod";
import { Risk } from "../ledger/ledger-entry.ts";
import { visibleText } from "./visible-text.ts";

/**
 * UTF-8 bytes of a whole view. More than a person reads in one sitting, so several long texts fit; far below the 6 MB that a Lambda may
 * answer. Above the claim check's threshold it lies in the payload store.
 */
export const viewBytesMax = 256 * 1024;
/** Fields of a view: what fits a few screens. More than that is a document, and belongs behind a link. */
export const viewFieldsMax = 50;
/** Addresses, or changed files, of one field: a mailing or a large pull request. Beyond it nobody checks them one by one. */
export const viewListMax = 1_000;
/** Characters of a label or of a title: one line on a page. */
const lineCharsMax = 200;
/** Characters of an address, a path or a branch: longer than any that a mail server or a repository takes. */
const nameCharsMax = 1_024;

/** Text of any length that the whole view's limit allows. What would deceive the eye is spelled out. */
const shown = z.string().transform(visibleText);
/** Measured as it is shown, so that a stored view passes again. */
const oneLine = (charsMax: number) =>
  z
    .string()
    .transform((text) => visibleText(text).replaceAll(/\s+/gu, " ").trim())
    .pipe(z.string().min(1).max(charsMax));
const line = oneLine(lineCharsMax);
const name = oneLine(nameCharsMax);
const count = z.number().int().nonnegative();

/** One field a reviewer is shown. Structured, so that a page can render it safely and say what it means. */
export const ApprovalField = z.discriminatedUnion("type", [
  /** `amount_cents` in the smallest unit of `currency` (ISO 4217, three letters). */
  z.strictObject({
    type: z.literal("money"),
    label: line,
    amount_cents: z.number().int(),
    currency: z.string().regex(/^[A-Za-z]{3}$/u, "expected three letters, as in ISO 4217"),
  }),
  z.strictObject({ type: z.literal("addresses"), label: line, list: z.array(name).max(viewListMax) }),
  z.strictObject({ type: z.literal("diff"), label: line, before: shown, after: shown }),
  z.strictObject({
    type: z.literal("sql"),
    label: line,
    statement: shown,
    /** Null where nobody could estimate them: a page says so, and does not show 0. */
    estimated_rows: count.nullable(),
    rollback_plan: shown,
  }),
  z.strictObject({
    type: z.literal("branch"),
    label: line,
    repository: name,
    base: name,
    head: name,
    files: z.array(z.strictObject({ path: name, added: count, removed: count })).max(viewListMax),
  }),
  /** Free text. It stands last: nobody's words push the facts out of sight or pose as one of them. */
  z.strictObject({ type: z.literal("text"), label: line, text: shown }),
]);
export type ApprovalField = z.infer<typeof ApprovalField>;

/**
 * What a reviewer is shown: fields with a meaning, and no markup. Facts first, free text last, measured as a whole in UTF-8.
 */
export const ApprovalView = z
  .strictObject({
    title: line,
    fields: z.array(ApprovalField).min(1).max(viewFieldsMax),
    /** A view may raise the risk of its tool for this one request, never lower it. A stored view always has the one that counts. */
    risk: Risk.optional(),
    /** Why the agent wants it, in its own words. */
    reason: shown.optional(),
    /** What happens then, in a sentence: a button that says only "OK" is pressed by habit. */
    on_approve: shown.refine((text) => text.trim() !== "", "say what happens"),
    on_reject: shown.refine((text) => text.trim() !== "", "say what happens"),
  })
  .superRefine((view, ctx) => {
    const firstText = view.fields.findIndex((field) => field.type === "text");
    const late = firstText < 0 ? -1 : view.fields.findIndex((field, at) => at > firstText && field.type !== "text");
    if (late >= 0) {
      ctx.addIssue({
        code: "custom",
        path: ["fields", late],
        message: `expected free text last, found a ${view.fields[late]?.type} field behind it: move it up`,
      });
    }
    const bytes = Buffer.byteLength(JSON.stringify(view), "utf8");
    if (bytes > viewBytesMax) {
      ctx.addIssue({
        code: "custom",
        message: `expected a view of at most ${viewBytesMax} bytes, found ${bytes}: show a part and say where the rest lies`,
      });
    }
  });
export type ApprovalView = z.infer<typeof ApprovalView>;

const riskOrder: readonly Risk[] = Risk.options;

/** The higher of two risks. */
export const higherRisk = (one: Risk, other: Risk | undefined): Risk =>
  other !== undefined && riskOrder.indexOf(other) > riskOrder.indexOf(one) ? other : one;
