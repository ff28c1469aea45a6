import type { Waiter } from "../waiter/waiter.ts";
import type { NoticeKind } from "./notice.ts";

/** Parts of an approval's validity after which it is reminded of, and escalated: soon enough that somebody can still decide in time. */
const remindAfter = 0.5;
const escalateAfter = 0.8;

/** How long whoever asked has to tell people itself, before the sweep takes it for not told. */
export const tellGraceMs = 60_000;

type Timed = Pick<Waiter, "requested_at" | "expires_at">;

export const remindAtMs = (waiter: Timed): number => partOf(waiter, remindAfter);
export const escalateAtMs = (waiter: Timed): number => partOf(waiter, escalateAfter);

function partOf({ requested_at, expires_at }: Timed, part: number): number {
  const from = Date.parse(requested_at);
  return from + (Date.parse(expires_at) - from) * part;
}

/** What people should have been told about a waiting approval by now: the newest matter alone, since it says all of it. */
export function dueNotice(waiter: Timed, nowMs: number): NoticeKind | undefined {
  if (nowMs >= escalateAtMs(waiter)) return "escalation";
  if (nowMs >= remindAtMs(waiter)) return "reminder";
  return nowMs >= Date.parse(waiter.requested_at) + tellGraceMs ? "requested" : undefined;
}
