import { isSamePerson } from "../../shared/approval/person.ts";
import type { RunPorts } from "../../shared/run/ports.ts";
import { Position } from "../../shared/runlog/position.ts";
import type { RunLog, WaiterKey } from "../../shared/runlog/run-log.ts";
import type { Waiter } from "../../shared/waiter/waiter.ts";
import type { ApprovalStatus } from "./approval-status.ts";
import { type ApprovalShown, approvalView } from "./approval-view.ts";

/** Approvals of one agent that are looked at for one that was decided: no index has that, and further back nobody looks by hand. */
const lookedAtMax = 1_000;
/** Approvals that are read at once. */
const readAtOnce = 20;
/** UTF-8 bytes of a listing, views included: Lambda answers with 6 MB at most. What is left out is told, and shown on its own. */
const listingBytesMax = 4 * 1024 * 1024;

export interface ApprovalFilter {
  readonly status: ApprovalStatus;
  readonly agent?: string | undefined;
  /** Asked before this instant, ISO 8601. */
  readonly requestedBefore?: string | undefined;
  /** A name or a role: pending ones that they may decide, others that they had a word in. */
  readonly approver?: string | undefined;
  readonly limit: number;
}

/** Approvals that fit every part of the filter: pending ones oldest first, others newest first. `more` says that some were left out. */
export async function findApprovals(
  filter: ApprovalFilter,
  agents: readonly string[],
  ports: RunPorts,
): Promise<{ readonly approvals: readonly ApprovalShown[]; readonly more: boolean }> {
  const keys = await candidates(filter, agents, ports.log);
  const found: ApprovalShown[] = [];
  for (let at = 0; at < keys.length && found.length <= filter.limit; at += readAtOnce) {
    const page = await Promise.all(keys.slice(at, at + readAtOnce).map((key) => shown(key, ports)));
    found.push(...page.filter((approval) => approval !== undefined).filter((approval) => fits(approval, filter)));
  }
  const approvals = thatFit(found.slice(0, filter.limit));
  const looked = filter.status === "pending" ? Infinity : lookedAtMax;
  return { approvals, more: found.length > approvals.length || keys.length >= looked };
}

/** The first of them, as many as one answer can hold. */
function thatFit(approvals: readonly ApprovalShown[]): readonly ApprovalShown[] {
  let bytes = 0;
  const tooMany = approvals.findIndex((approval) => {
    bytes += Buffer.byteLength(JSON.stringify(approval), "utf8");
    return bytes > listingBytesMax;
  });
  return tooMany < 0 ? approvals : approvals.slice(0, tooMany);
}

/** Pending ones are in the index of what is open. All others are found by their agent, and looked at one by one. */
async function candidates(
  { status, agent, requestedBefore }: ApprovalFilter,
  agents: readonly string[],
  log: RunLog,
): Promise<readonly WaiterKey[]> {
  const before = ({ requested_at }: Waiter) => requestedBefore === undefined || requested_at < requestedBefore;
  if (status === "pending") {
    return (await log.listOpenWaiters())
      .filter((waiter) => waiter.kind === "approval" && (agent === undefined || waiter.agent === agent))
      .filter(before);
  }
  const names = agent === undefined ? agents : [agent];
  const limit = Math.ceil(lookedAtMax / Math.max(1, names.length));
  return (await Promise.all(names.map((name) => log.listApprovals({ agent: name, limit, requestedBefore })))).flat();
}

async function shown({ run_id, position }: WaiterKey, ports: RunPorts): Promise<ApprovalShown | undefined> {
  const waiter = await ports.log.readWaiter(run_id, Position.parse(position));
  if (waiter?.kind !== "approval") return undefined;
  try {
    return await approvalView(waiter, ports);
  } catch (error) {
    // One that cannot be read hides no other: it is named where somebody can look.
    ports.logger.error("an approval cannot be shown", {
      run_id,
      position,
      code: error instanceof Error ? error.name : "unknown",
    });
    return undefined;
  }
}

function fits(approval: ApprovalShown, { status, approver }: ApprovalFilter): boolean {
  if (approval.status !== status) return false;
  if (approver === undefined) return true;
  const { roles, names, exclude_requester: excluded } = approval.approvers;
  const said = [...approval.votes.map(({ by }) => by), ...(approval.decision?.by ? [approval.decision.by] : [])];
  if (status !== "pending") return said.some((by) => isSamePerson(by, approver));
  const isRequester = approval.requested_by !== undefined && isSamePerson(approval.requested_by.by, approver);
  if ((excluded && isRequester) || said.some((by) => isSamePerson(by, approver))) return false;
  const open = roles.length === 0 && names.length === 0;
  return open || roles.includes(approver) || names.some((name) => isSamePerson(name, approver));
}
