import { describe, expect, test } from "vitest";
import type { Operation, Run } from "../../../infra/cli/api-shapes.ts";
import { describeRun } from "../../../infra/cli/describe-run.ts";

const at = "2026-09-02T12:00:00.000Z";
const operation = (over: Partial<Operation> = {}): Operation => ({
  operation_id: "c5a7394039e6198cb3d349d6f88e9b38",
  run_id: "run-1",
  action_name: "send_mail",
  business_key: "refund-mail/ORD-1",
  position: "0005.notify",
  status: "SUCCEEDED",
  attempt: 1,
  capability: "none",
  may_have_applied: true,
  updated_at: at,
  ...over,
});
const run = (over: Partial<Run> = {}): Run => ({
  run_id: "run-1",
  workflow_id: "TICKET-1",
  agent: "refund-agent",
  workflow_version: 1,
  status: "RUNNING",
  created_at: at,
  updated_at: at,
  steps: [],
  operations: [],
  waiters: [],
  failures: [],
  ...over,
});
const lastLines = (text: string, count: number) => text.split("\n").slice(-count);

describe("a run in the words for the person at 3 a.m.", () => {
  test("begins with what it is and how it stands", () => {
    expect(
      describeRun(run({ status: "SUCCEEDED", outcome: "completed" }))
        .split("\n")
        .slice(0, 2),
    ).toEqual([
      "run-1  SUCCEEDED (completed)",
      "refund-agent version 1, workflow TICKET-1, started 2026-09-02T12:00:00.000Z",
    ]);
  });

  test("shows where another version took it over, what it was forked from, and what was only simulated", () => {
    const step = { next: "refund", output: null, created_at: at, outcome: "done" };
    const version = (workflow_version: number) => ({ workflow_version, contract_digest: "d" });
    const adoption = {
      from: version(7),
      to: version(8),
      verdict: "migrate",
      migrations: [],
      decisions_hold: true,
      state: {},
    };
    const text = describeRun(
      run({
        forked_from: { run_id: "run-0", at: "0001.review" },
        simulated: true,
        steps: [
          { ...step, position: "0000.review", node: "review", kind: "adoption", output: adoption },
          { ...step, position: "0001.refund", node: "refund", kind: "write", simulated: true },
        ],
      }),
    );
    expect(text).toContain("simulated: nothing of it reached the outside; forked from run-0 at 0001.review");
    expect(text).toContain("version 7 → 8 (migrate)");
    expect(text).toContain("done (simulated)");
  });

  test("shows each step, and of an approval who decided it", () => {
    const step = { next: "refund", output: null, created_at: at, outcome: "done" };
    const text = describeRun(
      run({
        steps: [
          { ...step, position: "0000.plan", node: "plan", kind: "model", next: "review" },
          {
            ...step,
            position: "0001.review",
            node: "review",
            kind: "approval",
            output: { outcome: "approved", by: "ann" },
          },
        ],
      }),
    );

    expect(text).toMatch(/^0000\.plan +model +done +review +2026-09-02 12:00:00$/mu);
    expect(text).toMatch(/^0001\.review +approval +approved by ann +refund +2026-09-02 12:00:00$/mu);
  });

  test("names what is unknown before anything else, and where to look for it", () => {
    const unknown = operation({
      status: "UNKNOWN",
      error: { code: "tool_timeout", failure_class: "unknown", message: "send_mail gave no answer in 5000 ms" },
    });

    expect(lastLines(describeRun(run({ status: "PARKED", operations: [unknown] })), 1)[0]).toMatch(
      /^UNKNOWN: send_mail for refund-mail\/ORD-1 may or may not have happened \(send_mail gave no answer in 5000 ms\)\. Look for c5a7394039e6198cb3d349d6f88e9b38 on the other side/,
    );
  });

  test("says what is being undone, why, by what, and how the run ends then", () => {
    const refund = operation({ operation_id: "a".repeat(32), action_name: "create_refund", business_key: "ORD-1" });
    const undoing = operation({
      ...{ operation_id: "b".repeat(32), action_name: "charge_back", business_key: "ORD-1", status: "STARTED" },
      ...{ position: "0003.refund.compensate", compensates: refund.operation_id },
    });
    const failure = {
      node: "notify",
      error: { code: "http_400", failure_class: "final", message: "send_mail failed: the other side answered 400" },
    };
    const compensation = {
      because: "failed",
      compensating: true,
      ends: { status: "FAILED", outcome: "failed", failure },
    };
    const text = describeRun(run({ operations: [refund, undoing], compensation }));
    expect(text.split("\n")[0]).toBe("run-1  RUNNING, being compensated (failed), then FAILED");
    expect(text).toContain("Because: notify: send_mail failed: the other side answered 400\n");
    expect(text).toMatch(/^create_refund for ORD-1 +charge_back +STARTED$/mu);

    const ended = { ...compensation, compensating: false };
    expect(describeRun(run({ status: "FAILED", outcome: "failed", compensation: ended })).split("\n")[0]).toBe(
      "run-1  FAILED (failed), compensated",
    );
  });

  test("shows a success that contradicts what was decided, and says that it may be there twice", () => {
    const contradictions = [{ kind: "late_success", status_then: "FAILED_FINAL", at }];
    const text = describeRun(run({ status: "SUCCEEDED", operations: [operation({ contradictions })] }));

    expect(text).toContain("SUCCEEDED (contradicted)");
    expect(text).toMatch(/CONTRADICTED: send_mail for .* succeeded although it was FAILED_FINAL\..*may be there twice/);
  });

  test("says until when an attempt in flight keeps others away", () => {
    const started = operation({ status: "STARTED", lease_until: "2026-09-02T12:00:26.000Z" });

    expect(describeRun(run({ operations: [started] }))).toContain(
      "STARTED: send_mail for refund-mail/ORD-1 was sent or is about to be; nobody else tries before 2026-09-02 12:00:26.",
    );
  });

  test("says why a run was parked and what to do next", () => {
    const error = { code: "http_401", failure_class: "final", message: "lookup_order failed: no such key" };
    const failure = { position: "0001.order", node: "order", attempts: 3, error, next_move: "mend it" };
    const text = describeRun(
      run({
        status: "PARKED",
        failure,
        failures: [{ position: "0001.order", node: "order", attempts: 3, error, updated_at: at }],
      }),
    );

    expect(text).toMatch(/^0001\.order +3 +http_401 +2026-09-02 12:00:00 +lookup_order failed: no such key$/mu);
    expect(lastLines(text, 2)).toEqual(["order: lookup_order failed: no such key", "Next: mend it"]);
  });

  test("gives the command that answers an open approval", () => {
    const waiter = { waiter_id: "run-1:0003.review", kind: "approval", node: "review", status: "OPEN", expires_at: at };

    expect(lastLines(describeRun(run({ status: "WAITING", waiters: [waiter] })), 1)).toEqual([
      "Waits for a person: surefoot approve run-1:0003.review --by <you> (until 2026-09-02 12:00:00)",
    ]);
  });

  test("says of a run whose version was retired where it can go, and asks nobody to approve it", () => {
    const waiter = { waiter_id: "run-1:0003.review", kind: "approval", node: "review", status: "OPEN", expires_at: at };
    const retired = { at, by: "kim", reason: "leaks addresses" };

    expect(lastLines(describeRun(run({ status: "WAITING", retired, waiters: [waiter] })), 2)).toEqual([
      "",
      "RETIRED: version 1 was retired by kim (leaks addresses), and nothing of this run goes on there: surefoot resume run-1 --version <n>, fork, or cancel.",
    ]);
    expect(lastLines(describeRun(run({ status: "CANCELLED", retired })), 1)).toEqual(["Nothing to do."]);
  });

  test.each([
    ["RUNNING", "Running: nothing to do."],
    ["SUCCEEDED", "Nothing to do."],
  ])("says of a %s run that there is nothing to do", (status, words) => {
    expect(lastLines(describeRun(run({ status })), 1)).toEqual([words]);
  });
});
