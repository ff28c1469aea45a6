import type { Context } from "hono";
import { z } from "zod";
import { BadRequest } from "../../shared/faults/faults.ts";

/** The part of an HTTP API event that says who calls: IAM's user ARN, put there by API Gateway, never by the caller. */
const Event = z.object({
  requestContext: z.object({ authorizer: z.object({ iam: z.object({ userArn: z.string() }) }) }),
});

/**
 * Who decides, and how that is known. Where API Gateway authenticated the caller that is who it is, whatever the body claims.
 * @throws BadRequest where nobody is named.
 */
export function callerOf(c: Context, claimed: string | undefined): { readonly by: string; readonly known_by: string } {
  const event = Event.safeParse((c.env as { event?: unknown } | undefined)?.event);
  if (event.success) return { by: event.data.requestContext.authorizer.iam.userArn, known_by: "iam" };
  if (claimed === undefined)
    throw new BadRequest("decider_missing", "say who decides: `by` is missing. Nothing was decided");
  return { by: claimed, known_by: "claimed" };
}
