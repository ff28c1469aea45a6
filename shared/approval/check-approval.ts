import { Fault } from "../faults/fault.ts";
import type { ApprovalOutcome, StaleReason } from "./approval.ts";

/** What the dispatch is about to send. */
export interface Dispatch {
  readonly requestHash: string;
  readonly toolVersion: number;
  readonly nowMs: number;
}

/**
 * Whether a recorded decision still authorises exactly this request, asked right before the claim.
 * @returns the reason why not, or undefined. @throws Fault `not_approved` when the decision never was a yes.
 */
export function checkApproval(outcome: ApprovalOutcome, dispatch: Dispatch): StaleReason | undefined {
  switch (outcome.outcome) {
    case "not_required":
      return undefined;
    case "rejected":
    case "expired":
      throw new Fault(
        "not_approved",
        "final",
        `the approval was ${outcome.outcome}: a route leads past it to the write; mend the agent's edges`,
      );
    case "approved":
      if (outcome.payload_digest !== dispatch.requestHash) return "digest_changed";
      if (outcome.tool_version !== dispatch.toolVersion) return "version_changed";
      return holdsAt(dispatch.nowMs, outcome.valid_until) ? undefined : "expired";
    default:
      return outcome.outcome satisfies never;
  }
}

/** An end that is missing or no instant counts as past: the comparison with NaN is false. */
const holdsAt = (nowMs: number, validUntil: string | undefined): boolean => nowMs <= Date.parse(validUntil ?? "");
