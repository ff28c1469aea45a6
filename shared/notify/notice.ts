import { createHash } from "node:crypto";
import { z } from "zod";

/**
 * - `requested`: an approval was asked for
 * - `reminder`: it still waits, and its time is running
 * - `escalation`: it waited for longer than it should
 */
export const NoticeKind = z.enum(["requested", "reminder", "escalation"]);
export type NoticeKind = z.infer<typeof NoticeKind>;

/** What people are told about an approval that waits. */
export const Notice = z.object({
  /** The same for each attempt to tell the same thing to the same person: whoever gets it twice drops one. */
  notice_id: z.string(),
  kind: NoticeKind,
  approval_id: z.string(),
  run_id: z.string(),
  workflow_id: z.string(),
  agent: z.string(),
  action_name: z.string(),
  risk: z.string(),
  title: z.string(),
  requested_at: z.string(),
  expires_at: z.string(),
  /** Whom the link is for; absent where it is the page of the approval, which asks who comes. */
  approver: z.string().optional(),
  /** With an approver a secret: it must not lie in logs. */
  link: z.string(),
});
export type Notice = z.infer<typeof Notice>;

/** @param occasion tells apart what is told again on purpose: a reminder on somebody's request. */
export const noticeId = (
  approvalId: string,
  kind: NoticeKind,
  occasion: string,
  approver: string | undefined,
): string =>
  createHash("sha256")
    .update([approvalId, kind, occasion, approver ?? ""].join("\n"))
    .digest("hex")
    .slice(0, 32);
