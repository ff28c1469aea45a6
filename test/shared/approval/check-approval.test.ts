import { describe, expect, it } from "vitest";
import { ApprovalOutcome } from "../../../shared/approval/approval.ts";
import { checkApproval, type Dispatch } from "../../../shared/approval/check-approval.ts";
import { Fault } from "../../../shared/faults/fault.ts";

const validUntil = "2026-09-09T12:00:00.000Z";
const validUntilMs = 1_788_955_200_000;

const approved = (changed: Partial<ApprovalOutcome> = {}): ApprovalOutcome => ({
  outcome: "approved",
  payload_digest: "3f1c",
  tool_version: 3,
  valid_until: validUntil,
  by: "maria",
  at: "2026-09-02T12:00:00.000Z",
  ...changed,
});
const dispatch = (changed: Partial<Dispatch> = {}): Dispatch => ({
  requestHash: "3f1c",
  toolVersion: 3,
  nowMs: validUntilMs - 60_000,
  ...changed,
});
const without = (field: keyof ApprovalOutcome): ApprovalOutcome =>
  ApprovalOutcome.parse(Object.fromEntries(Object.entries(approved()).filter(([name]) => name !== field)));

describe("a decision, asked again right before the claim", () => {
  it("holds for exactly the request, tool version and time it was given for", () => {
    expect(checkApproval(approved(), dispatch())).toBeUndefined();
  });

  it("holds up to the very millisecond it names, and not one longer", () => {
    expect(checkApproval(approved(), dispatch({ nowMs: validUntilMs }))).toBeUndefined();
    expect(checkApproval(approved(), dispatch({ nowMs: validUntilMs + 1 }))).toBe("expired");
  });

  it.each([
    ["another request", approved(), dispatch({ requestHash: "91ae" }), "digest_changed"],
    ["another tool version", approved(), dispatch({ toolVersion: 4 }), "version_changed"],
    ["an older tool version", approved(), dispatch({ toolVersion: 2 }), "version_changed"],
    ["a decision too old", approved(), dispatch({ nowMs: validUntilMs + 1 }), "expired"],
    ["a decision that names no digest", without("payload_digest"), dispatch(), "digest_changed"],
    ["a decision that names no version", without("tool_version"), dispatch(), "version_changed"],
    ["a decision without an end", without("valid_until"), dispatch(), "expired"],
    ["a decision whose end is no instant", approved({ valid_until: "next week" }), dispatch(), "expired"],
    ["a clock that tells no time", approved(), dispatch({ nowMs: Number.NaN }), "expired"],
  ] as const)("does not hold for %s", (_what, outcome, now, reason) => {
    expect(checkApproval(outcome, now)).toBe(reason);
  });

  it("names what matters most where several things changed: the request, then the version, then the time", () => {
    const late = { nowMs: validUntilMs + 1 };
    expect(checkApproval(approved(), dispatch({ requestHash: "91ae", toolVersion: 4, ...late }))).toBe(
      "digest_changed",
    );
    expect(checkApproval(approved(), dispatch({ toolVersion: 4, ...late }))).toBe("version_changed");
  });

  it("is not looked at where nobody had to be asked", () => {
    const notRequired: ApprovalOutcome = { outcome: "not_required", at: "2026-09-02T12:00:00.000Z" };
    expect(checkApproval(notRequired, dispatch({ nowMs: validUntilMs + 1 }))).toBeUndefined();
  });

  it.each(["rejected", "expired"] as const)("that was %s never lets a write through", (outcome) => {
    expect(() => checkApproval(approved({ outcome }), dispatch())).toThrow(Fault);
    expect(() => checkApproval(approved({ outcome }), dispatch())).toThrow(
      expect.objectContaining({ code: "not_approved", failureClass: "final" }),
    );
  });
});
