import type { Context } from "hono";
import { z } from "zod";
import { Decision } from "../../shared/approval/approval.ts";
import { BadRequest } from "../../shared/faults/faults.ts";
import { checkRequest, oneOf } from "./check-request.ts";
import { isSameOrigin } from "./same-origin.ts";

/** Bytes of a form: a comment at its longest, each character percent-encoded, and room around it. */
const formBytesMax = 64 * 1024;
const commentCharsMax = 4_000;
const formType = "application/x-www-form-urlencoded";

const SentForm = z.object({
  decision: oneOf(Decision.options),
  by: z.string().trim().min(1).max(256).optional(),
  /** Browsers send line breaks as two characters and count them as one. */
  comment: z
    .string()
    .transform((text) => text.replaceAll("\r\n", "\n"))
    .pipe(z.string().max(commentCharsMax))
    .optional(),
  /** What its page showed. */
  asked: z.string().optional(),
  /** Proof that our page was its origin, where the page's address is the only credential. */
  form: z.string().optional(),
});
export type SentForm = z.infer<typeof SentForm>;

export const isForm = (c: Context): boolean =>
  c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase() === formType;

/** A decision as a page of ours sends it. @throws BadRequest for one that another site sent, or that is none. */
export async function readDecisionForm(c: Context): Promise<SentForm> {
  if (!isSameOrigin(c)) throw new BadRequest("cross_site", "the form was not sent by its own page", 403);
  if (!isForm(c)) throw new BadRequest("not_a_form", `expected ${formType}: use the buttons of the page`);
  const text = await c.req.text();
  if (Buffer.byteLength(text, "utf8") > formBytesMax)
    throw new BadRequest("body_too_large", "the form is too large", 413);
  return checkRequest(SentForm, Object.fromEntries(new URLSearchParams(text)));
}
