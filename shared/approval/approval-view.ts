import { z } from "zod";

/** One field a reviewer is shown. Structured, so that a page can render it safely and a digest can cover it. */
export const ApprovalField = z.discriminatedUnion("type", [
  z.object({ type: z.literal("money"), label: z.string(), amount_cents: z.number().int(), currency: z.string() }),
  z.object({ type: z.literal("text"), label: z.string(), text: z.string() }),
  z.object({ type: z.literal("list"), label: z.string(), items: z.array(z.string()) }),
]);
export type ApprovalField = z.infer<typeof ApprovalField>;

export const ApprovalView = z.object({
  title: z.string().min(1),
  fields: z.array(ApprovalField).min(1),
  /** Why the agent wants it, in its own words. */
  reason: z.string().optional(),
  on_approve: z.string(),
  on_reject: z.string(),
});
export type ApprovalView = z.infer<typeof ApprovalView>;
