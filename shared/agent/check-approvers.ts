import { approversMax, quorumMax } from "../approval/approver-rule.ts";
import type { ApprovalNode, WriteNode } from "./node.ts";

/** Checks who may decide: a rule that nobody can meet would let every run expire. `wrong` names the node. */
export function checkApprovers(node: ApprovalNode, write: WriteNode, wrong: (problem: string) => never): void {
  const { roles, names, quorum } = node.approvers;
  if (!Number.isInteger(quorum) || quorum < 1 || quorum > quorumMax)
    wrong(`quorum must be a whole number from 1 to ${quorumMax}, found ${quorum}`);
  if ([...roles, ...names].some((text) => text.trim() === "")) wrong("approvers: a name or a role is empty");
  if (roles.length > approversMax || names.length > approversMax)
    wrong(`approvers: at most ${approversMax} names and as many roles; give a larger group a role of its own`);
  const people = new Set(names.map((name) => name.trim().toLowerCase())).size;
  if (roles.length === 0 && names.length > 0 && people < quorum)
    wrong(`needs ${quorum} approvals, but names ${people} approver(s) and no role: it could never be met`);
  if (!node.autoApprove) return;
  if (node.autoApprove.policy.trim() === "") wrong("autoApprove: name the policy; decisions are recorded by it");
  if (write.tool.risk === "high")
    wrong(
      `autoApprove: tool "${write.tool.name}" has a high risk, which a person decides; remove it or lower the risk`,
    );
}
