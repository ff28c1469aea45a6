import { z } from "zod";
import { isSamePerson, type Person } from "./person.ts";

/** Approvals that one question may need. A larger board meets and lets one of them say so; it also bounds the waiter's item. */
export const quorumMax = 10;
/** Names, or roles, of one rule. More is a group, and has a role of its own. */
export const approversMax = 50;

/** Who may decide, frozen when the question is asked. Without roles and names it is anyone whom the API lets in. */
export const ApproverRule = z.object({
  roles: z.array(z.string()),
  names: z.array(z.string()),
  /** Different people who have to say yes. One no is enough. */
  quorum: z.number().int().positive(),
  exclude_requester: z.boolean(),
});
export type ApproverRule = z.infer<typeof ApproverRule>;

export const anyone: ApproverRule = { roles: [], names: [], quorum: 1, exclude_requester: false };

/** Whoever wants to decide. */
export interface Approver extends Person {
  readonly roles: readonly string[];
}

/** Why somebody may not decide. */
export type Refusal = "not_an_approver" | "requester_excluded" | "requester_unknown";

/** Whether the rule lets this person decide what `requester` asked for; undefined says yes. Somebody unknown cannot be excluded. */
export function refusalOf(rule: ApproverRule, approver: Approver, requester: Person | undefined): Refusal | undefined {
  if (rule.exclude_requester) {
    if (!requester) return "requester_unknown";
    if (isSamePerson(requester.by, approver.by)) return "requester_excluded";
  }
  const open = rule.roles.length === 0 && rule.names.length === 0;
  const named = rule.names.some((name) => name.trim().toLowerCase() === approver.by.trim().toLowerCase());
  const hasRole = rule.roles.some((role) => approver.roles.includes(role));
  return open || named || hasRole ? undefined : "not_an_approver";
}

/** The rule in words: `2 of anybody with role finance, or ann; not the requester`. */
export function ruleInWords({ roles, names, quorum, exclude_requester: excluded }: ApproverRule): string {
  const who = [...roles.map((role) => `anybody with role ${role}`), ...names].join(", or ");
  const number = quorum === 1 ? "" : `${quorum} of `;
  return `${number}${who === "" ? "anybody whom the API lets in" : who}${excluded ? "; not whoever started the run" : ""}`;
}
