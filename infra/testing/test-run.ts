import type { ApprovalOutcome } from "../../shared/approval/approval.ts";
import type { LedgerEntry } from "../../shared/ledger/ledger-entry.ts";
import type { RunHistory } from "../../shared/runlog/run-log.ts";
import { isOpen, type RunRecord } from "../../shared/runlog/run-record.ts";
import type { Step } from "../../shared/runlog/step.ts";
import { type Waiter, waiterId } from "../../shared/waiter/waiter.ts";
import type { Reached } from "../in-process/drive.ts";
import type { Engine } from "../in-process/engine.ts";

/** Who decided, and what they said. */
export interface Decision {
  /** @default a reviewer */
  readonly by?: string;
  readonly comment?: string;
}

/** What a person found out about an operation. */
export interface Word {
  readonly outcome: "succeeded" | "failed" | "retry";
  readonly externalRef?: string;
  readonly result?: unknown;
  /** @default looked at the other side */
  readonly evidence?: string;
  /** @default an operator */
  readonly by?: string;
}

/** How a run ended. */
export interface EndedRun {
  readonly status: RunRecord["status"];
  /** `completed`, or the route that ended it: `rejected`, `expired`, … */
  readonly outcome: string | undefined;
  /** The latest output of each node. */
  readonly state: Readonly<Record<string, unknown>>;
}

/** One run of a test world. Everything a person or a client would do goes through the HTTP API's own code. */
export class TestRun {
  readonly id: string;
  readonly #engine: Engine;

  constructor(id: string, engine: Engine) {
    this.id = id;
    this.#engine = engine;
  }

  /**
   * Keeps the world going until the run has ended. Retries, leases and the sweep pass by themselves; a wait for a person does not.
   * @throws Error that says what it waits for, where it does not come to an end by itself.
   */
  async untilEnd(): Promise<EndedRun> {
    const { reached, history } = await this.#until(({ run }) => !isOpen(run.status));
    if (reached === "idle") throw new Error(`run ${this.id} does not end by itself: ${whyNot(history)}`);
    const { status, outcome } = history.run;
    return { status, outcome, state: await this.#stateOf(history) };
  }

  /** Keeps the world going until the run waits at `node` (or anywhere). @throws Error where it never does. */
  async untilWaiting(node?: string): Promise<Waiter> {
    const waiterOf = ({ waiters }: RunHistory) =>
      waiters.findLast(({ status, ...waiter }) => status === "OPEN" && (node === undefined || waiter.node === node));
    const { history } = await this.#until((now) => waiterOf(now)?.task_token !== undefined || !isOpen(now.run.status));
    const waiter = waiterOf(history);
    if (waiter?.task_token !== undefined && isOpen(history.run.status)) return waiter;
    throw new Error(`run ${this.id} does not come to wait at ${node ?? "any node"}: ${whyNot(history)}`);
  }

  /** Keeps the world going until the run is parked for somebody to look at. @throws Error where it never is. */
  async untilParked(): Promise<NonNullable<RunRecord["failure"]>> {
    const { history } = await this.#until(({ run }) => run.status === "PARKED" || !isOpen(run.status));
    if (history.run.status === "PARKED" && history.run.failure) return history.run.failure;
    throw new Error(`run ${this.id} is not parked: ${whyNot(history)}`);
  }

  approve(node: string, decision: Decision = {}): Promise<ApprovalOutcome> {
    return this.#decide(node, "approve", decision);
  }

  reject(node: string, decision: Decision = {}): Promise<ApprovalOutcome> {
    return this.#decide(node, "reject", decision);
  }

  /** Says what came of the operation of a write node: one in doubt, or one that a person was to do. */
  async resolve(node: string, { outcome, externalRef, result, ...said }: Word): Promise<LedgerEntry> {
    await this.untilWaiting(node);
    const entry = (await this.operations()).findLast(({ position }) => position.endsWith(`.${node}`));
    if (!entry) throw new Error(`run ${this.id} has no operation at "${node}": expected a write node that was reached`);
    await this.#post(`/operations/${entry.operation_id}/resolution`, {
      outcome,
      ...(externalRef !== undefined && { external_ref: externalRef }),
      ...(result !== undefined && { result }),
      evidence: said.evidence ?? "looked at the other side",
      by: said.by ?? "an operator",
    });
    return (await this.#engine.stored.operation(entry.operation_id)) ?? entry;
  }

  /** Takes up a parked run. */
  async resume(by = "an operator"): Promise<void> {
    await this.#post(`/runs/${this.id}/resume`, { by });
  }

  async cancel(by = "an operator"): Promise<void> {
    await this.#post(`/runs/${this.id}/cancel`, { by });
  }

  async record(): Promise<RunRecord> {
    return (await this.#history()).run;
  }

  /** In order. */
  async steps(): Promise<readonly Step[]> {
    return (await this.#history()).steps;
  }

  /** The latest output of each node. */
  async state(): Promise<Readonly<Record<string, unknown>>> {
    return this.#stateOf(await this.#history());
  }

  async #stateOf({ steps }: RunHistory): Promise<Readonly<Record<string, unknown>>> {
    const outputs = steps.map(async ({ node, output }) => [node, await this.#engine.stored.value(output)] as const);
    return Object.fromEntries(await Promise.all(outputs));
  }

  /** Its side effects, as the ledger has them. Oldest first. */
  operations(): Promise<readonly LedgerEntry[]> {
    return this.#engine.stored.operations(this.id);
  }

  async #decide(node: string, decision: "approve" | "reject", { by = "a reviewer", comment }: Decision) {
    const { position } = await this.untilWaiting(node);
    const answer = await this.#post(`/approvals/${encodeURIComponent(waiterId(this.id, position))}`, {
      decision,
      by,
      ...(comment !== undefined && { comment }),
    });
    return (answer as { readonly decision: ApprovalOutcome }).decision;
  }

  /** @throws Error with the API's own words where it refuses. */
  async #post(path: string, body: unknown): Promise<unknown> {
    const answer = await this.#engine.request("POST", path, body);
    if (answer.status < 300) return answer.body;
    const { error } = answer.body as { readonly error?: { readonly message?: string } };
    throw new Error(`POST ${path} answered ${answer.status}: ${error?.message ?? JSON.stringify(answer.body)}`);
  }

  /** Keeps the world going until `met` is so of the run. */
  async #until(
    met: (history: RunHistory) => boolean,
  ): Promise<{ readonly reached: Reached; readonly history: RunHistory }> {
    const seen: RunHistory[] = [];
    const reached = await this.#engine.until(async () => {
      seen[0] = await this.#history();
      return met(seen[0]);
    });
    return { reached, history: seen[0] ?? (await this.#history()) };
  }

  async #history(): Promise<RunHistory> {
    const history = await this.#engine.stored.history(this.id);
    if (!history) throw new Error(`there is no run ${this.id} in this world`);
    return history;
  }
}

function whyNot({ run, waiters }: RunHistory): string {
  const traced = "world.trace() says what happened last";
  if (!isOpen(run.status))
    return `it is ${run.status}${run.outcome === undefined ? "" : ` (${run.outcome})`}; ${traced}`;
  const waiter = waiters.findLast(({ status }) => status === "OPEN");
  const ofOperation = waiter !== undefined && waiter.kind !== "approval";
  if (run.status === "PARKED" && run.failure) {
    const move = ofOperation ? `run.resolve("${waiter.node}", …)` : "mend the cause, then run.resume()";
    return `it is PARKED at "${run.failure.node}": ${run.failure.error.message} (${move})`;
  }
  if (ofOperation) return `it waits for the operation of "${waiter.node}": run.resolve("${waiter.node}", …)`;
  if (waiter)
    return `it waits for a person at "${waiter.node}": run.approve("${waiter.node}"), run.reject("${waiter.node}"), or world.skip(…) past ${waiter.expires_at}`;
  return `it is ${run.status}; ${traced}`;
}
