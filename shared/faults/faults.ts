import { Fault, type FaultFacts } from "./fault.ts";

/** The faults that other code catches by name. Everything else is a plain `Fault` with its own code. */

/** The definition of an agent is wrong. Thrown where it is defined, names the node. */
export class AgentDefinitionError extends Fault {
  override readonly name = "AgentDefinitionError";
  constructor(agent: string, problem: string, facts: FaultFacts = {}) {
    super("agent_definition", "final", `agent "${agent}": ${problem}`, { facts: { agent, ...facts } });
  }
}

/** A stored entry has another request than the one that asks. Final on every path; nothing was sent. */
export class OperationConflict extends Fault {
  override readonly name = "OperationConflict";
  constructor(operationId: string, recorded: string, asked: string, found: string) {
    super(
      "operation_conflict",
      "final",
      `operation ${operationId} was recorded with request ${recorded.slice(0, 12)} (${found}) but this one is ${asked.slice(0, 12)}: nothing was sent; change the business key or start a new run`,
      { facts: { operation_id: operationId, recorded_hash: recorded, asked_hash: asked, found } },
    );
  }
}

/** Come back at `notBeforeMs`: a lease is live, a settle time runs, or a server asked for patience. Nothing was sent and no budget is spent. */
export class ComeBackLater extends Fault {
  override readonly name = "ComeBackLater";
  constructor(
    code: "operation_in_flight" | "settling" | "retry_after",
    notBeforeMs: number,
    why: string,
    facts: FaultFacts = {},
  ) {
    super(code, "retryable", why, { facts, notBeforeMs });
  }
}

/** The operation is on its way by queue or by a person's hand: the run waits for the ledger. */
export class HandedOut extends Fault {
  override readonly name = "HandedOut";
  readonly operationId: string;
  constructor(operationId: string, delivery: string) {
    super("handed_out", "retryable", `operation ${operationId} was handed out by ${delivery}`, {
      facts: { operation_id: operationId, delivery },
    });
    this.operationId = operationId;
  }
}

/** It cannot be known whether the effect happened. Only the reconciler or a person may say. */
export class OperationUnknown extends Fault {
  override readonly name = "OperationUnknown";
  constructor(operationId: string, why: string, facts: FaultFacts = {}) {
    super(
      "operation_unknown",
      "unknown",
      `operation ${operationId} may or may not have happened: ${why}. Look at the other side, then resolve it`,
      { facts: { operation_id: operationId, ...facts } },
    );
  }
}

/** A recorded step, waiter or payload does not belong to the code that would continue from it. Nothing ran. */
export class ReplayContractError extends Fault {
  override readonly name = "ReplayContractError";
  constructor(runId: string, position: string, problem: string, facts: FaultFacts = {}) {
    super(
      "replay_contract",
      "final",
      `run ${runId} at ${position}: ${problem}. Nothing ran; continue the run with the version it started on, or fork it`,
      { facts: { run_id: runId, position, ...facts } },
    );
  }
}

/** A stored record does not have its shape. An error, never other data. */
export class RecordCorrupt extends Fault {
  override readonly name = "RecordCorrupt";
  constructor(what: string, problem: string, facts: FaultFacts = {}) {
    super("record_corrupt", "final", `${what} is stored in a shape this version cannot read: ${problem}`, { facts });
  }
}

/** This execution no longer owns its run, or the run has ended. It stops quietly. */
export class StaleExecution extends Fault {
  override readonly name = "StaleExecution";
  constructor(runId: string, execution: string, problem: string) {
    super("stale_execution", "final", `execution ${execution} of run ${runId} stops: ${problem}`, {
      facts: { run_id: runId, execution },
    });
  }
}

/** What a caller sent is wrong: nothing was written. `status` is the HTTP status that says so. */
export class BadRequest extends Fault {
  override readonly name = "BadRequest";
  readonly status: 400 | 403 | 404 | 409 | 413;
  constructor(code: string, message: string, status: BadRequest["status"] = 400, facts: FaultFacts = {}) {
    super(code, "final", message, { facts });
    this.status = status;
  }
}

/** An approval no longer holds at dispatch, or a precondition fails: nothing was sent, the run goes back, with the reason. */
export class SentBack extends Fault {
  override readonly name = "SentBack";
  readonly reason: "digest_changed" | "version_changed" | "expired" | "precondition_failed" | "snapshot_changed";
  readonly comment: string | undefined;
  /** The approval that no longer holds; undefined where the write's own precondition failed. */
  readonly approval: string | undefined;
  constructor(node: string, reason: SentBack["reason"], comment?: string, approval?: string) {
    super(
      "sent_back",
      "final",
      `${node} was not dispatched: ${reason}${comment === undefined ? "" : ` (${comment})`}`,
      {
        facts: { node, reason },
      },
    );
    this.reason = reason;
    this.comment = comment;
    this.approval = approval;
  }
}
