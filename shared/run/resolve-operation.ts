import { z } from "zod";
import { BadRequest } from "../faults/faults.ts";
import type { Ledger, PersonsWord } from "../ledger/ledger.ts";
import type { LedgerEntry } from "../ledger/ledger-entry.ts";
import { packValue, unpackValue } from "../payloads/claim-check.ts";
import { isoTime } from "../ports/clock.ts";
import type { Executions, Waker, WakeResult } from "../ports/executions.ts";
import type { RunHistory } from "../runlog/run-log.ts";
import { isOpen } from "../runlog/run-record.ts";
import { ResolutionSubject } from "../waiter/resolution-subject.ts";
import { isAwaited, type Waiter } from "../waiter/waiter.ts";
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

  const history = await ports.log.read(found.run_id);
  const waiter = waiterOf(history, found);
  refuseSettled(found, request);
  refuseEarly(found, history, waiter, request);
  const result = await resultOf(found, waiter, request, ports);
  const write = await ports.ledger.resolve(found, {
    outcome: request.outcome,
    by: request.by,
    evidence: request.evidence,
    externalRef: request.externalRef,
    result: result === undefined ? undefined : await packValue(ports.payloads, found.run_id, result),
  });
  if (!write.held) {
    // Two clicks at once by the same person are one word.
    if (saidBefore(write.entry, request))
      return { entry: write.entry, changed: false, wake: await wakeRunOf(write.entry, ports) };
    refuseSettled(write.entry, request, "somebody else was first: ");
  }
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
  const waiter = waiterOf(history, entry);
  if (!history || !waiter) return "not_waiting";
  const { run } = history;
  // Still in doubt: a person was asked, and waking the run would only ask again.
  if (waiter.kind === "resolution" && isAwaited(waiter, entry.status)) return "not_waiting";
  if (waiter.status === "ANSWERED") {
    // It gave up waiting for this operation, and a person was to look at it: now there is an answer.
    const gaveUp = run.status === "PARKED" && run.waiting_for === undefined;
    const parkedHere = gaveUp && run.failure?.position === waiter.position;
    if (!parkedHere) return "told_before";
  } else {
    const wake = waiter.task_token === undefined ? "gone" : await ports.waker.succeed(waiter.task_token);
    // Only now: whoever dies before this leaves it open, and the sweep tells it again.
    const closed = await ports.log.closeWaiter(waiter, isoTime(ports.clock.nowMs()));
    if (wake === "woken") return wake;
    if (!closed) return "told_before";
    if (run.status !== "PARKED") return wake;
  }
  // The execution that waited is gone: the run goes on in a new one.
  return (await resumeRun(entry.run_id, ports)).resumed ? "resumed" : "gone";
}

/** The newest waiter that the ledger's word on this operation answers. */
const waiterOf = (history: RunHistory | undefined, { operation_id }: LedgerEntry): Waiter | undefined =>
  history?.waiters.findLast((candidate) => candidate.operation_id === operation_id && candidate.kind !== "approval");

const statusOf = { succeeded: "SUCCEEDED", failed: "FAILED_FINAL", retry: "FAILED_RETRYABLE" } as const;

/** In doubt again it is another question, whoever answered the last one. */
const saidBefore = (entry: LedgerEntry, { outcome, by }: ResolveRequest): boolean =>
  !takesAWord(entry) && entry.resolution?.by === by && entry.resolution.outcome === statusOf[outcome];

/** Only what is in doubt, or what is a person's to do, takes a person's word. */
const takesAWord = ({ status, delivery }: LedgerEntry): boolean =>
  status === "UNKNOWN" || (status === "PENDING" && delivery === "human");

function refuseSettled(entry: LedgerEntry, { expectedVersion }: ResolveRequest, prefix = ""): void {
  const open = takesAWord(entry);
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

/** Some words come before their time: nobody has asked for them yet, or nothing was tried that could be tried again. */
function refuseEarly(
  { operation_id, run_id, status, version }: LedgerEntry,
  history: RunHistory | undefined,
  waiter: Waiter | undefined,
  { outcome }: ResolveRequest,
): void {
  const facts = { operation_id, status, version };
  if (status === "PENDING" && outcome === "retry") {
    throw new BadRequest(
      "nothing_to_retry",
      `operation ${operation_id} is a person's to do: say succeeded, or failed. Nothing was changed`,
    );
  }
  // Its request may still wait for an approval, and only the waiter knows what the tool would have answered.
  const asked = waiter !== undefined || history === undefined || !isOpen(history.run.status);
  if (asked || (status === "UNKNOWN" && outcome !== "succeeded")) return;
  throw new BadRequest(
    "not_asked",
    `run ${run_id} has not come to wait for operation ${operation_id} yet: the sweep takes it up, or surefoot resume ${run_id}; then say it again. Nothing was changed`,
    409,
    facts,
  );
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
  if (!parsed?.success) {
    // Its run has ended: nobody goes on with a result, but people read what it came to.
    if (result !== undefined || externalRef !== undefined) return result;
    throw new BadRequest(
      "result_missing",
      `say what ${entry.action_name} came to: \`external_ref\` is missing. Nothing was changed`,
    );
  }
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
