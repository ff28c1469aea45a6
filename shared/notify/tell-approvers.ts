import type { ApprovalSubject } from "../approval/approval.ts";
import { readSubject } from "../approval/read-subject.ts";
import { isFault } from "../faults/fault.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { boundedCall } from "../operation/bounded-call.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import { type Waiter, waiterId } from "../waiter/waiter.ts";
import { recipientsOf } from "./approvers.ts";
import type { Channel, Notices } from "./channel.ts";
import { type Notice, noticeId, type NoticeKind } from "./notice.ts";
import type { Mark } from "./notice-log.ts";

/** A channel that takes longer is told again by the sweep: whoever tells has a run, or a caller, waiting for it. */
const sendMsMax = 4_000;

export interface TellPorts {
  readonly payloads: PayloadStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly notices: Notices;
}

/** Names of channels. */
export interface NoticeReport {
  readonly sent: readonly string[];
  readonly failed: readonly string[];
}

/**
 * Tells people about an approval by every channel that has not told it yet, at least once and within seconds. Never throws: that nobody
 * was told must not keep the run from waiting, and the sweep tries again.
 * @param occasion set where it is told again on purpose, whatever was told before.
 */
export async function tellApprovers(
  waiter: Waiter,
  kind: NoticeKind,
  ports: TellPorts,
  occasion?: string,
): Promise<NoticeReport> {
  try {
    const { notices, payloads } = ports;
    const told = occasion === undefined ? await notices.log.read(waiter) : new Set<string>();
    const channels = notices.channels.filter(({ name }) => !told.has(markOf(kind, name)));
    if (channels.length === 0) return { sent: [], failed: [] };
    const subject = await readSubject(waiter, payloads);
    const results = await Promise.all(
      channels.map(async (channel) => ({
        name: channel.name,
        sent: await tellBy(channel, { waiter, subject, kind, occasion: occasion ?? "" }, ports),
      })),
    );
    const sent = results.filter((result) => result.sent).map(({ name }) => name);
    await notices.log.add(
      waiter,
      sent.map((name) => markOf(kind, name)),
    );
    return { sent, failed: results.filter((result) => !result.sent).map(({ name }) => name) };
  } catch (error) {
    failed(error, "all", waiter, ports);
    return { sent: [], failed: ports.notices.channels.map(({ name }) => name) };
  }
}

const markOf = (kind: NoticeKind, channel: string): Mark => `${kind}/${channel}`;

interface Telling {
  readonly waiter: Waiter;
  readonly subject: ApprovalSubject;
  readonly kind: NoticeKind;
  readonly occasion: string;
}

async function tellBy(channel: Channel, telling: Telling, ports: TellPorts): Promise<boolean> {
  const { waiter, subject } = telling;
  const audience = channel.audience(recipientsOf(waiter, subject, ports.notices.approvers));
  const ends = await Promise.all(
    audience.map((approver) =>
      boundedCall(ports.clock, ports.clock.nowMs() + sendMsMax, async (signal) =>
        channel.send(await noticeOf(telling, approver, ports.notices), signal),
      ),
    ),
  );
  const problem = ends.find(({ kind }) => kind !== "returned");
  if (!problem) {
    ports.metrics.add("approval_notice_total", { agent: waiter.agent, node: waiter.node }, ends.length);
    return true;
  }
  failed(problem.kind === "threw" ? problem.error : undefined, channel.name, waiter, ports);
  return false;
}

async function noticeOf(
  { waiter, subject, kind, occasion }: Telling,
  approver: string | undefined,
  { links }: Notices,
): Promise<Notice> {
  const approvalId = waiterId(waiter.run_id, waiter.position);
  return {
    notice_id: noticeId(approvalId, kind, occasion, approver),
    kind,
    approval_id: approvalId,
    run_id: waiter.run_id,
    workflow_id: waiter.workflow_id,
    agent: waiter.agent,
    action_name: subject.action_name,
    risk: waiter.risk ?? "unknown",
    title: subject.view.title,
    requested_at: waiter.requested_at,
    expires_at: waiter.expires_at,
    ...(approver !== undefined && { approver }),
    link: approver === undefined ? links.page(waiter) : await links.signed(waiter, approver),
  };
}

/** The error's own words may hold an address that is a secret: its code and name say enough. */
function failed(error: unknown, channel: string, waiter: Waiter, { logger, metrics }: TellPorts): void {
  const code = isFault(error) ? error.code : error instanceof Error ? error.name : "timed_out";
  metrics.add("approval_notice_failed_total", { agent: waiter.agent, node: waiter.node });
  logger.error("nobody was told of an approval by this channel; the sweep tries again", {
    run_id: waiter.run_id,
    workflow_id: waiter.workflow_id,
    position: waiter.position,
    channel,
    code,
  });
}
