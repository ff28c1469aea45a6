import { Fault } from "../faults/fault.ts";
import type { ApprovalOutcome, Binding, StaleReason } from "./approval.ts";

/** The code that asks or sends, as it is now. */
export interface CodeNow {
  readonly workflow_version: number;
  /** Of the model nodes whose answers led here: `{ [node]: name@release }`. */
  readonly prompt_versions: Readonly<Record<string, string>>;
  /** Other versions of the workflow whose decisions still hold: a resume on this version found them compatible. */
  readonly compatible_with: readonly number[];
}

/** What is about to be asked or sent. */
export interface Now extends CodeNow {
  readonly payload_digest: string;
  readonly tool_version: number;
}

/** What was bound, as far as it is recorded. */
type Bound = { readonly [K in keyof Binding]?: Binding[K] | undefined };

/**
 * Whether a recorded decision still authorises exactly this request, asked right before the claim.
 * @returns the reason why not, or undefined. @throws Fault `not_approved` when the decision never was a yes.
 */
export function checkApproval(outcome: ApprovalOutcome, now: Now, nowMs: number): StaleReason | undefined {
  switch (outcome.outcome) {
    case "not_required":
      return undefined;
    case "rejected":
    case "expired":
    case "cancelled":
    case "superseded":
      throw new Fault(
        "not_approved",
        "final",
        `the approval was ${outcome.outcome}: a route leads past it to the write; mend the agent's edges`,
      );
    case "approved":
      return changeOf(outcome, now) ?? (holdsAt(nowMs, outcome.valid_until) ? undefined : "expired");
    default:
      return outcome.outcome satisfies never;
  }
}

/** What of a binding is another one now. What was never bound does not hold. */
export function changeOf(
  bound: Bound,
  now: Now,
): Extract<StaleReason, "digest_changed" | "version_changed"> | undefined {
  if (bound.payload_digest !== now.payload_digest) return "digest_changed";
  const sameTool = bound.tool_version === now.tool_version;
  const sameWorkflow = [now.workflow_version, ...now.compatible_with].includes(bound.workflow_version ?? Number.NaN);
  const samePrompts = Object.entries(bound.prompt_versions ?? {}).every(
    ([node, version]) => now.prompt_versions[node] === version,
  );
  return sameTool && sameWorkflow && samePrompts ? undefined : "version_changed";
}

/** An end that is missing or no instant counts as past: the comparison with NaN is false. */
const holdsAt = (nowMs: number, validUntil: string | undefined): boolean => nowMs <= Date.parse(validUntil ?? "");
