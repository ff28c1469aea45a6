import { ApprovalOutcome } from "../approval/approval.ts";
import { COMPENSATE } from "../compile/lines.ts";
import { wireError } from "../compile/wire-errors.ts";
import { StaleExecution } from "../faults/faults.ts";
import { WireFault } from "../faults/wire-fault.ts";
import { unpackValue } from "../payloads/claim-check.ts";
import { isoTime } from "../ports/clock.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Waker } from "../ports/executions.ts";
import type { Position } from "../runlog/position.ts";
import type { RunHistory } from "../runlog/run-log.ts";
import { executionAttempt, isOpen } from "../runlog/run-record.ts";
import { isAwaited, type Waiter } from "../waiter/waiter.ts";
import { answerApproval, routeOf, wakeAnswered } from "./answer-waiter.ts";
import type { RunPorts } from "./ports.ts";

export interface WaitEntry {
  readonly runId: string;
  readonly line: string;
  readonly execution: string;
}

/** What waiting needs beside a run's ports. */
export type WaitPorts = RunPorts & { readonly waker: Waker; readonly ledger: Pick<Ledger, "read"> };

/**
 * Registers the task token of a state that waits, then reads the answer again: no order of the two sides loses a wake-up.
 * @returns the approval that now waits for people; undefined where none does.
 * @throws WireFault `surefoot.stale` when a newer execution owns the run.
 */
export async function registerWait(entry: WaitEntry, taskToken: string, ports: WaitPorts): Promise<Waiter | undefined> {
  const { history, waiter } = await openWaiter(entry, ports);
  const { run } = history;
  // Says who waits before anybody can be woken; refused when another execution took over meanwhile.
  const status = waiter.kind === "resolution" ? "PARKED" : "WAITING";
  const failure = waiter.kind === "resolution" ? { failure: parkedFor(history, waiter) } : {};
  const owns = await ports.log.change(run, ["RUNNING", "WAITING", "PARKED"], {
    status,
    waiting_for: waiter.node,
    ...failure,
  });
  if (!owns) throw stale(entry, "another execution took over");
  const registered = await ports.log.registerToken(
    run.run_id,
    waiter.position,
    taskToken,
    executionAttempt(entry.execution),
  );
  if (!registered) throw stale(entry, "a newer execution waits here");

  let asked: Waiter | undefined;
  if (waiter.kind === "approval") {
    const step = await ports.log.readStep(run.run_id, waiter.position);
    if (!step) asked = waiter;
    else await wakeAnswered(waiter, ApprovalOutcome.parse(await unpackValue(ports.payloads, step.output)), ports);
  } else {
    const entry = await ports.ledger.read(waiter.operation_id ?? "");
    if (!entry || !isAwaited(waiter, entry.status)) {
      await ports.waker.succeed(taskToken);
      await ports.log.closeWaiter({ ...waiter, task_token: taskToken }, isoTime(ports.clock.nowMs()));
    }
  }
  ports.logger.info("run waits", {
    run_id: run.run_id,
    workflow_id: run.workflow_id,
    workflow_version: run.workflow_version,
    position: waiter.position,
    waiter: waiter.kind,
  });
  return asked;
}

/** Records an expiry unless an answer was first, and says where the recorded answer leads. */
export async function expireWait(
  entry: WaitEntry,
  ports: WaitPorts,
): Promise<{ readonly run_id: string; readonly position: Position; readonly next: string }> {
  const { waiter } = await openWaiter(entry, ports);
  const { outcome } = await answerApproval(waiter, { outcome: "expired", at: isoTime(ports.clock.nowMs()) }, ports);
  if (outcome.outcome === "expired")
    ports.metrics.add("waiter_overdue_total", { agent: waiter.agent, node: waiter.node });
  return { run_id: entry.runId, position: waiter.position, next: routeOf(waiter, outcome) };
}

/**
 * The newest waiter that the line left. A compensation may come to wait at any position in any order: there it is the one asked last of
 * those that nobody has answered, whoever left it first.
 */
async function openWaiter(
  entry: WaitEntry,
  ports: WaitPorts,
): Promise<{ readonly history: RunHistory; readonly waiter: Waiter }> {
  const history = await ports.log.read(entry.runId);
  if (!history) throw stale(entry, "there is no such run");
  if (history.run.execution !== entry.execution) throw stale(entry, `${history.run.execution} owns it now`);
  if (!isOpen(history.run.status)) throw stale(entry, `it is ${history.run.status}`);
  const waiter = newestOf(history.waiters, entry.line);
  if (!waiter) throw stale(entry, `line ${entry.line} left no waiter`);
  return { history, waiter };
}

function newestOf(waiters: readonly Waiter[], line: string): Waiter | undefined {
  if (line !== COMPENSATE) return waiters.findLast((waiter) => waiter.line === line);
  const byTime = waiters
    .filter((waiter) => waiter.kind !== "approval")
    .sort((a, b) => a.requested_at.localeCompare(b.requested_at));
  return byTime.findLast((waiter) => waiter.status === "OPEN") ?? byTime.findLast((waiter) => waiter.line === line);
}

function stale(entry: WaitEntry, problem: string): WireFault {
  const fault = new StaleExecution(entry.runId, entry.execution, problem);
  return new WireFault(wireError.stale, fault.message, fault);
}

function parkedFor({ failures }: RunHistory, waiter: Waiter) {
  const failure = failures.find((candidate) => candidate.position === waiter.position);
  return {
    position: waiter.position,
    node: waiter.node,
    attempts: failure?.attempts ?? 0,
    error: failure?.error ?? {
      code: "operation_unknown",
      failure_class: "unknown" as const,
      message: "an attempt ended without an answer",
      facts: {},
    },
    next_move: `look on the other side whether operation ${waiter.operation_id ?? ""} happened, then surefoot resolve ${waiter.operation_id ?? ""}`,
  };
}
