import { z } from "zod";

/**
 * Who did something, and how that is known: `iam` or `jwt` (API Gateway checked it), `link` (a signed link was sent to this name), `claimed`
 * (the caller only said so), `policy` (nobody: a rule of the agent).
 */
export const Person = z.object({ by: z.string(), known_by: z.string() });
export type Person = z.infer<typeof Person>;

/** `arn:aws:sts::111122223333:assumed-role/<role>/<session>`: whoever assumes a role chooses the name of the session. */
const assumedRole = /^(arn:[^:]*:sts::\d*:assumed-role\/([^/]+))\/.+$/u;
/** Roles of IAM Identity Center: there the session has the user's name, and nobody chooses another. */
const ssoRolePrefix = "AWSReservedSSO_";

/**
 * What tells one person from another. Sessions of one role are one person, since their names are free to choose: else anybody with the
 * role would be a quorum. Case makes no difference: addresses are written either way.
 */
export function personKey(by: string): string {
  const [, role, roleName = ""] = assumedRole.exec(by.trim()) ?? [];
  return (role === undefined || roleName.startsWith(ssoRolePrefix) ? by.trim() : role).toLowerCase();
}

export const isSamePerson = (one: string, other: string): boolean => personKey(one) === personKey(other);
