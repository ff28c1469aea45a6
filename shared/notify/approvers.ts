import type { ApprovalSubject } from "../approval/approval.ts";
import { refusalOf } from "../approval/approver-rule.ts";
import { isSamePerson, personKey } from "../approval/person.ts";
import type { Waiter } from "../waiter/waiter.ts";

/** People whom the deployment names, and the roles each of them has. */
export type Approvers = ReadonlyMap<string, readonly string[]>;

/** The roles a named person has. @returns undefined for somebody whom neither the deployment nor the approval names. */
export function rolesOfNamed(
  name: string,
  { approvers }: Pick<ApprovalSubject, "approvers">,
  named: Approvers,
): readonly string[] | undefined {
  const entry = [...named].find(([candidate]) => isSamePerson(candidate, name));
  if (entry) return entry[1];
  return approvers.names.some((candidate) => isSamePerson(candidate, name)) ? [] : undefined;
}

/** Whoever can be sent a link of their own: named, allowed to decide this, and not heard yet. */
export function recipientsOf(
  { votes = {} }: Pick<Waiter, "votes">,
  subject: ApprovalSubject,
  named: Approvers,
): readonly string[] {
  const candidates = new Map([...subject.approvers.names, ...named.keys()].map((name) => [personKey(name), name]));
  const heard = Object.values(votes).map(({ by }) => personKey(by));
  return [...candidates]
    .filter(([key]) => !heard.includes(key))
    .map(([, name]) => name)
    .filter((name) => {
      const roles = rolesOfNamed(name, subject, named) ?? [];
      return refusalOf(subject.approvers, { by: name, known_by: "link", roles }, subject.requested_by) === undefined;
    });
}
