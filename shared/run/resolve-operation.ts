import { z } from "zod";
import { BadRequest } from "../faults/faults.ts";
import type { Ledger, PersonsWord } from "../ledger/ledger.ts";
import type { LedgerEntry } from "../ledger/ledger-entry.ts";
import { packValue, unpackValue } from "../payloads/claim-check.ts";
import { isoTime } from "../ports/clock.ts";
import type { Executions, Waker, WakeResult } from "../ports/executions.ts";
import { ResolutionSubject } from "../waiter/resolution-subject.ts";
import type { Waiter } from "../waiter/waiter.ts";
import type { RunPorts } from "./ports.ts";
import { resumeRun } from "./resume-run.ts";

export interface ResolveRequest extends Omit<PersonsWord, "result" | "externalRef"> {
  readonly operationId: string;
  /** The version of the entry that the person looked at. A decision on an older one is refused. */
  readonly expectedVersion: number | undefined;
  readonly externalRef: string | undefined;
  readonly result: unknown;
}

export interface Resolved {
  readonly entry: LedgerEntry;
  /** False when the same word was given before. */
  readonly changed: boolean;
  readonly wake: WakeResult | "told_before" | "resumed" | "not_waiting";
}

export type ResolvePorts = RunPorts & {
  readonly ledger: Ledger;
  readonly waker: Waker;
  readonly executions: Executions;
};

/**
 * Writes a person's word on an operation that nobody could find out about, and wakes its run; the ledger then decides how it goes on.
 * The same word again is harmless and makes sure that the run wakes.
 * @throws BadRequest 404 for an unknown operation, 409 when it is no longer open or another version, 400 when the word lacks something.
 */
export async function resolveOperation(request: ResolveRequest, ports: ResolvePorts): Promise<Resolved> {
  const found = await ports.ledger.read(request.operationId);
  if (!found) {
    throw new BadRequest(
      "unknown_operation",
      `there is no operation "${request.operationId}": surefoot operations lists them`,
      404,
    );
  }
  if (saidBefore(found, request)) return { entry: found, changed: false, wake: await wakeRunOf(found, ports) };
  refuseSettled(found, request);

  const history = await ports.log.read(found.run_id);
  const waiter = history?.waiters.findLast(
    (candidate) => candidate.operation_id === found.operation_id && candidate.kind !== "approval",
  );
  const result = await resultOf(found, waiter, request, ports);
  const write = await ports.ledger.resolve(found, {
    outcome: request.outcome,
    by: request.by,
    evidence: request.evidence,
    externalRef: request.externalRef,
    result: result === undefined ? undefined : await packValue(ports.payloads, found.run_id, result),
  });
  if (!write.held) refuseSettled(write.entry, request, "somebody else was first: ");
  ports.logger.info("operation resolved", {
    run_id: found.run_id,
    workflow_id: found.workflow_id,
    operation_id: found.operation_id,
    outcome: request.outcome,
  });
  return { entry: write.entry, changed: true, wake: await wakeRunOf(write.entry, ports) };
}

/** Tells the waiter of an operation that the ledger has moved. Repeating it is harmless: a token is good once. */
export async function wakeRunOf(entry: LedgerEntry, ports: ResolvePorts): Promise<Resolved["wake"]> {
  const history = await ports.log.read(entry.run_id);
  const waiter = history?.waiters.findLast(
    (candidate) => candidate.operation_id === entry.operation_id && candidate.kind !== "approval",
  );
  if (!history || !waiter) return "not_waiting";
  if (waiter.status === "ANSWERED") return "told_before";
  const wake = waiter.task_token === undefined ? "gone" : await ports.waker.succeed(waiter.task_token);
  // Only now: whoever dies before this leaves it open, and the sweep tells it again.
  await ports.log.closeWaiter(waiter.run_id, waiter.position, isoTime(ports.clock.nowMs()));
  if (wake === "woken" || history.run.status !== "PARKED") return wake;
  // The execution that waited is gone: the run goes on in a new one.
  return (await resumeRun(entry.run_id, ports)).resumed ? "resumed" : "gone";
}

const statusOf = { succeeded: "SUCCEEDED", failed: "FAILED_FINAL", retry: "FAILED_RETRYABLE" } as const;

const saidBefore = (entry: LedgerEntry, { outcome, by }: ResolveRequest): boolean =>
  entry.resolution?.by === by && entry.resolution.outcome === statusOf[outcome];

/** Only what is in doubt, or what is a person's to do, takes a person's word. */
function refuseSettled(entry: LedgerEntry, { expectedVersion }: ResolveRequest, prefix = ""): void {
  const open = entry.status === "UNKNOWN" || (entry.status === "PENDING" && entry.delivery === "human");
  const facts = { operation_id: entry.operation_id, status: entry.status, version: entry.version };
  if (!open || prefix !== "") {
    const who = entry.resolution === undefined ? "" : `, by ${entry.resolution.by} at ${entry.resolution.at}`;
    throw new BadRequest(
      "not_unknown",
      `${prefix}operation ${entry.operation_id} is ${entry.status}${who}: nothing was changed`,
      409,
      facts,
    );
  }
  if (expectedVersion !== undefined && expectedVersion !== entry.version) {
    throw new BadRequest(
      "version_changed",
      `you looked at version ${expectedVersion} of operation ${entry.operation_id}, now it is version ${entry.version}: look again. Nothing was changed`,
      409,
      facts,
    );
  }
}

/** What the tool would have answered. Checked here, since the run could not go on with anything else. */
async function resultOf(
  entry: LedgerEntry,
  waiter: Waiter | undefined,
  { outcome, externalRef, result }: ResolveRequest,
  ports: RunPorts,
): Promise<unknown> {
  if (outcome !== "succeeded") return undefined;
  const parsed = waiter && ResolutionSubject.safeParse(await unpackValue(ports.payloads, waiter.subject));
  if (!parsed?.success) return result;
  const subject = parsed.data;
  if (result === undefined) {
    if (subject.reference_suffices && externalRef !== undefined) return undefined;
    const need = subject.reference_suffices
      ? "`external_ref`, the reference on the other side"
      : "`result`, what the tool would have answered";
    throw new BadRequest(
      "result_missing",
      `say what ${entry.action_name} came to: ${need} is missing. Nothing was changed`,
    );
  }
  const checked = z.fromJSONSchema(subject.result_schema).safeParse(result);
  if (checked.success) return checked.data;
  const problems = checked.error.issues
    .map((issue) => `${["result", ...issue.path].join(".")}: ${issue.message}`)
    .join("; ");
  throw new BadRequest(
    "result_invalid",
    `the result does not fit what ${entry.action_name} answers: ${problems}. Nothing was changed`,
  );
}
