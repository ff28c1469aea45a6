import { type Agent, approvalsOf } from "../agent/agent.ts";
import type { State, WriteNode } from "../agent/node.ts";
import { ApprovalOutcome } from "../approval/approval.ts";
import { codeNow } from "../approval/code-now.ts";
import type { OperationCall } from "../operation/operation-call.ts";
import type { RunLog } from "../runlog/run-log.ts";
import type { RunRecord } from "../runlog/run-record.ts";
import { parseWaiterId } from "../waiter/waiter.ts";

/** A write node in a run that is about to be dispatched. */
export interface GuardedWrite {
  readonly agent: Agent;
  readonly run: RunRecord;
  readonly node: WriteNode;
  readonly state: State;
}

/** The approvals that guard a write, as state and log have them now: what Prepare checks right before the claim. */
export async function guardsOfWrite(
  { agent, run, node, state }: GuardedWrite,
  log: Pick<RunLog, "readWaiter">,
): Promise<Pick<OperationCall, "approvals" | "guarded">> {
  const guards = approvalsOf(agent, node.name);
  const now = codeNow(agent, state, run);
  const approvals = await Promise.all(
    guards.map(async (guard) => {
      const parsed = ApprovalOutcome.safeParse(state[guard.name]);
      if (!parsed.success) return [];
      const asked = parseWaiterId(parsed.data.approval_id ?? "");
      const waiter = asked && (await log.readWaiter(asked.runId, asked.position));
      return [{ node: guard, outcome: parsed.data, waiter, now }];
    }),
  );
  return { approvals: approvals.flat(), guarded: guards.length > 0 };
}
