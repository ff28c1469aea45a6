import type { Context } from "hono";
import { z } from "zod";
import { isSamePerson } from "../../shared/approval/person.ts";
import { BadRequest } from "../../shared/faults/faults.ts";
import type { Approvers } from "../../shared/notify/approvers.ts";

/**
 * Who asks, how that is known, and which roles that person has. `iam`, `jwt`: API Gateway checked it. `link`: a signed link was sent to
 * this name. `claimed`: the caller only said so.
 */
export interface Caller {
  readonly by: string;
  readonly known_by: "iam" | "jwt" | "link" | "claimed";
  readonly roles: readonly string[];
}

/** The part of an HTTP API event that says who calls: put there by API Gateway, never by the caller. */
const Event = z.object({
  requestContext: z.object({
    authorizer: z.union([
      z.object({ iam: z.object({ userArn: z.string() }) }),
      z.object({ jwt: z.object({ claims: z.record(z.string(), z.unknown()) }) }),
    ]),
  }),
});

/**
 * Who decides. Where API Gateway authenticated the caller that is who it is, whatever the body claims.
 * @throws BadRequest where nobody is named.
 */
export function callerOf(c: Context, claimed: string | undefined): Caller {
  const known = knownCaller(c);
  if (known) return known;
  if (claimed === undefined)
    throw new BadRequest("decider_missing", "say who decides: `by` is missing. Nothing was decided");
  return { by: claimed, known_by: "claimed", roles: rolesOfClaimed(c, claimed) };
}

/** What a request is told of the people whom the deployment names. */
const approversKey = "approvers";
export const knowApprovers = (c: Context, approvers: Approvers): void => c.set(approversKey, approvers);

/** Where nobody is asked who they are, whoever claims a name has its roles too: an API without authorization is for one's own machine. */
function rolesOfClaimed(c: Context, claimed: string): readonly string[] {
  const approvers = c.get(approversKey) as Approvers | undefined;
  return [...(approvers ?? [])].find(([name]) => isSamePerson(name, claimed))?.[1] ?? [];
}

/** The caller that API Gateway authenticated; undefined where the API asks nobody. */
export function knownCaller(c: Context): Caller | undefined {
  const event = Event.safeParse((c.env as { event?: unknown } | undefined)?.event);
  if (!event.success) return undefined;
  const { authorizer } = event.data.requestContext;
  return "iam" in authorizer
    ? iamCaller(authorizer.iam.userArn)
    : jwtCaller(authorizer.jwt.claims, c.req.header("authorization"));
}

/** Whoever assumed a role has it: `arn:aws:sts::111122223333:assumed-role/<role>/<session>`. */
function iamCaller(userArn: string): Caller {
  const [, role] = /:assumed-role\/([^/]+)\//u.exec(userArn) ?? [];
  return { by: userArn, known_by: "iam", roles: role === undefined ? [] : [role] };
}

/** Claims that identity providers list groups and roles in. */
const roleClaims = ["roles", "groups", "cognito:groups"] as const;

/**
 * By the address the provider verified, since signed links name people so too: one person stays one, however they came. Otherwise by
 * `sub`, which never changes.
 */
function jwtCaller(claims: Readonly<Record<string, unknown>>, authorization: string | undefined): Caller {
  const { sub, email, email_verified: verified } = claims;
  const address = typeof email === "string" && (verified === true || verified === "true") ? email : undefined;
  const by = address?.toLowerCase() ?? sub;
  if (typeof by !== "string" || by === "") {
    throw new BadRequest(
      "caller_unknown",
      "the token names nobody: expected a `sub`, or an `email` that is verified. Nothing was decided",
    );
  }
  return { by, known_by: "jwt", roles: rolesOf(claims, authorization) };
}

/**
 * API Gateway hands a list over as `[a b]`, where a name with a space looks like two: so lists are read from the token that it has just
 * verified. A token that is not the verified one gives no roles.
 */
function rolesOf(claims: Readonly<Record<string, unknown>>, authorization: string | undefined): readonly string[] {
  const token = tokenClaims(authorization);
  const verified = token && ["iss", "sub", "exp"].every((name) => String(token[name]) === String(claims[name]));
  if (!verified) return [];
  const lists = roleClaims.map((name) => token[name]);
  return [...new Set(lists.flat().filter((role): role is string => typeof role === "string" && role !== ""))];
}

function tokenClaims(authorization: string | undefined): Readonly<Record<string, unknown>> | undefined {
  const [, payload] = /^(?:Bearer\s+)?[\w-]+\.([\w-]+)\.[\w-]+$/iu.exec(authorization?.trim() ?? "") ?? [];
  if (payload === undefined) return undefined;
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(Buffer.from(payload, "base64url").toString("utf8")));
  } catch {
    return undefined;
  }
}
