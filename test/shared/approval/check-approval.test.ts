import { describe, expect, it } from "vitest";
import { ApprovalOutcome } from "../../../shared/approval/approval.ts";
import { checkApproval, type Now } from "../../../shared/approval/check-approval.ts";
import { Fault } from "../../../shared/faults/fault.ts";

const validUntil = "2026-09-09T12:00:00.000Z";
const validUntilMs = 1_788_955_200_000;
const inTimeMs = validUntilMs - 60_000;

const approved = (changed: Partial<ApprovalOutcome> = {}): ApprovalOutcome => ({
  outcome: "approved",
  payload_digest: "3f1c",
  tool_version: 3,
  workflow_version: 7,
  prompt_versions: { plan: "plan@1" },
  valid_until: validUntil,
  by: "maria",
  at: "2026-09-02T12:00:00.000Z",
  ...changed,
});
const now = (changed: Partial<Now> = {}): Now => ({
  payload_digest: "3f1c",
  tool_version: 3,
  workflow_version: 7,
  prompt_versions: { plan: "plan@1" },
  compatible_with: [],
  ...changed,
});
const without = (field: keyof ApprovalOutcome): ApprovalOutcome =>
  ApprovalOutcome.parse(Object.fromEntries(Object.entries(approved()).filter(([name]) => name !== field)));

describe("a decision, asked again right before the claim", () => {
  it("holds for exactly the request, versions and time it was given for", () => {
    expect(checkApproval(approved(), now(), inTimeMs)).toBeUndefined();
  });

  it("holds up to the very millisecond it names, and not one longer", () => {
    expect(checkApproval(approved(), now(), validUntilMs)).toBeUndefined();
    expect(checkApproval(approved(), now(), validUntilMs + 1)).toBe("expired");
  });

  it.each([
    ["another request", approved(), now({ payload_digest: "91ae" }), "digest_changed"],
    ["another tool version", approved(), now({ tool_version: 4 }), "version_changed"],
    ["an older tool version", approved(), now({ tool_version: 2 }), "version_changed"],
    ["another workflow version", approved(), now({ workflow_version: 8 }), "version_changed"],
    [
      "another release of a prompt behind it",
      approved(),
      now({ prompt_versions: { plan: "plan@2" } }),
      "version_changed",
    ],
    ["a prompt behind it that is gone", approved(), now({ prompt_versions: {} }), "version_changed"],
    ["a decision that names no digest", without("payload_digest"), now(), "digest_changed"],
    ["a decision that names no tool version", without("tool_version"), now(), "version_changed"],
    ["a decision that names no workflow version", without("workflow_version"), now(), "version_changed"],
    ["a decision without an end", without("valid_until"), now(), "expired"],
    ["a decision whose end is no instant", approved({ valid_until: "next week" }), now(), "expired"],
  ] as const)("does not hold for %s", (_what, outcome, current, reason) => {
    expect(checkApproval(outcome, current, inTimeMs)).toBe(reason);
  });

  it("does not hold by a clock that tells no time", () => {
    expect(checkApproval(approved(), now(), Number.NaN)).toBe("expired");
  });

  it.each([
    ["a prompt that was asked after the decision", now({ prompt_versions: { plan: "plan@1", sum: "sum@1" } })],
    [
      "a later version of the workflow that the run found compatible",
      now({ workflow_version: 9, compatible_with: [7, 8] }),
    ],
  ])("holds in spite of %s", (_what, current) => {
    expect(checkApproval(approved(), current, inTimeMs)).toBeUndefined();
  });

  it("names what matters most where several things changed: the request, then the version, then the time", () => {
    const late = validUntilMs + 1;
    expect(checkApproval(approved(), now({ payload_digest: "91ae", tool_version: 4 }), late)).toBe("digest_changed");
    expect(checkApproval(approved(), now({ tool_version: 4 }), late)).toBe("version_changed");
  });

  it("is not looked at where nobody had to be asked", () => {
    const notRequired: ApprovalOutcome = { outcome: "not_required", at: "2026-09-02T12:00:00.000Z" };
    expect(checkApproval(notRequired, now(), validUntilMs + 1)).toBeUndefined();
  });

  it.each(["rejected", "expired", "cancelled", "superseded"] as const)(
    "that was %s never lets a write through",
    (outcome) => {
      expect(() => checkApproval(approved({ outcome }), now(), inTimeMs)).toThrow(Fault);
      expect(() => checkApproval(approved({ outcome }), now(), inTimeMs)).toThrow(
        expect.objectContaining({ code: "not_approved", failureClass: "final" }),
      );
    },
  );
});
