import { type Agent, approvalsOf } from "../agent/agent.ts";
import type { State, WriteNode } from "../agent/node.ts";
import { ApprovalOutcome } from "../approval/approval.ts";
import type { OperationCall } from "../operation/operation-call.ts";

/** The approvals that guard a write, as the state has them now: what Prepare checks right before the claim. */
export function guardsOfWrite(
  agent: Agent,
  node: WriteNode,
  state: State,
): Pick<OperationCall, "approvals" | "guarded"> {
  const guards = approvalsOf(agent, node.name);
  const approvals = guards.flatMap((guard) => {
    const outcome = ApprovalOutcome.safeParse(state[guard.name]);
    return outcome.success ? [{ node: guard.name, outcome: outcome.data }] : [];
  });
  return { approvals, guarded: guards.length > 0 };
}
