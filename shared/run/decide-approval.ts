import type { ApprovalOutcome, ApprovalSubject, Decision, Vote } from "../approval/approval.ts";
import { type Approver, type Refusal, refusalOf, ruleInWords } from "../approval/approver-rule.ts";
import { isSamePerson, personKey } from "../approval/person.ts";
import { readSubject } from "../approval/read-subject.ts";
import { BadRequest } from "../faults/faults.ts";
import { unpackValue } from "../payloads/claim-check.ts";
import { isoTime } from "../ports/clock.ts";
import type { Waker } from "../ports/executions.ts";
import { retirementOf, type RunRecord, stillWants, standingOf } from "../runlog/run-record.ts";
import { type Waiter, waiterId, waiterVersion } from "../waiter/waiter.ts";
import { answerApproval, type Told, wakeAnswered } from "./answer-waiter.ts";
import type { RunPorts } from "./ports.ts";

export interface DecisionRequest {
  readonly decision: Decision;
  readonly approver: Approver;
  readonly comment: string | undefined;
  /** What the decider saw: refused where the approval is about another request. */
  readonly payloadDigest?: string | undefined;
  /** The version of the approval that the decider saw: refused once it counts no more. */
  readonly expectedVersion?: number | undefined;
}

/**
 * - `decided`: there is an answer, which `counts` says whether it is this person's. The run was told.
 * - `counted`: the vote counts, and more are needed.
 */
export type DecidedApproval =
  | { readonly kind: "decided"; readonly outcome: ApprovalOutcome; readonly counts: boolean; readonly wake: Told }
  | { readonly kind: "counted"; readonly votes: readonly Vote[]; readonly quorum: number };

export type DecidePorts = RunPorts & { readonly waker: Waker };

/**
 * Decides an approval, once. The first writer wins; whoever is second learns the decision that counts. One no is enough; where several
 * have to say yes, each vote is one conditional write, and whoever adds the last writes the decision. Safe to repeat: the same word by
 * the same person makes sure that the run wakes.
 * @throws BadRequest 403 for who may not decide, 409 for what is not what was looked at, counts no more, or has ended.
 */
export async function decideApproval(
  waiter: Waiter,
  request: DecisionRequest,
  ports: DecidePorts,
): Promise<DecidedApproval> {
  const subject = await readSubject(waiter, ports.payloads);
  refuseUnseen(waiter, subject, request);
  const step = await ports.log.readStep(waiter.run_id, waiter.position);
  if (step) {
    const outcome = (await unpackValue(ports.payloads, step.output)) as ApprovalOutcome;
    return decided(request, outcome, await wakeAnswered(waiter, outcome, ports));
  }
  const run = await ports.log.readRun(waiter.run_id);
  if (!run || !stillWants(run, waiter.node)) throw runEnded(waiter, standingOf(run));
  refuseRetired(waiter, run);
  const refusal = refusalOf(subject.approvers, request.approver, subject.requested_by);
  if (refusal) throw refused(waiter, subject, request.approver, refusal);

  const nowMs = ports.clock.nowMs();
  // An end that is no instant counts as past: its expiry is recorded, which is nobody's word.
  const inTime = nowMs <= Date.parse(waiter.expires_at);
  const vote: Vote = {
    by: request.approver.by,
    known_by: request.approver.known_by,
    at: isoTime(nowMs),
    ...(request.comment !== undefined && { comment: request.comment }),
  };
  if (inTime && request.decision === "approve" && subject.approvers.quorum > 1) {
    return addVote(waiter, subject, vote, request, ports);
  }
  const word = request.decision === "approve" ? ("approved" as const) : ("rejected" as const);
  const mine: ApprovalOutcome = inTime
    ? { outcome: word, ...vote, ...boundBy(waiter, subject) }
    : { outcome: "expired", at: vote.at, ...boundBy(waiter, subject) };
  return answer(waiter, mine, request, ports);
}

/**
 * Writes the decision that enough votes are. Whoever added the last one may have died before it could.
 * @returns undefined where more are needed.
 */
export async function concludeVotes(waiter: Waiter, subject: ApprovalSubject, ports: DecidePorts) {
  const votes = votesOf(waiter);
  const last = votes.at(-1);
  if (!last || votes.length < subject.approvers.quorum) return undefined;
  return answerApproval(
    waiter,
    { outcome: "approved", ...last, votes: [...votes], ...boundBy(waiter, subject) },
    ports,
  );
}

async function addVote(
  waiter: Waiter,
  subject: ApprovalSubject,
  vote: Vote,
  request: DecisionRequest,
  ports: DecidePorts,
): Promise<DecidedApproval> {
  const { quorum } = subject.approvers;
  const { record } = await ports.log.addVote(waiter, personKey(vote.by), vote, quorum);
  refuseUnseen(record, subject, request);
  const concluded = await concludeVotes(record, subject, ports);
  if (concluded) return decided(request, concluded.outcome, concluded.wake);
  // Somebody said no, or time ran out, while the vote was cast.
  const step = await ports.log.readStep(waiter.run_id, waiter.position);
  if (!step) return { kind: "counted", votes: votesOf(record), quorum };
  const outcome = (await unpackValue(ports.payloads, step.output)) as ApprovalOutcome;
  return decided(request, outcome, await wakeAnswered(waiter, outcome, ports));
}

/** In order of time, so that whoever concludes writes the same decision. */
const votesOf = ({ votes }: Waiter): readonly Vote[] =>
  Object.values(votes ?? {}).sort((a, b) => a.at.localeCompare(b.at) || a.by.localeCompare(b.by));

async function answer(
  waiter: Waiter,
  mine: ApprovalOutcome,
  request: DecisionRequest,
  ports: DecidePorts,
): Promise<DecidedApproval> {
  const { outcome, wake } = await answerApproval(waiter, mine, ports);
  return decided(request, outcome, wake);
}

function decided({ decision, approver }: DecisionRequest, outcome: ApprovalOutcome, wake: Told): DecidedApproval {
  const said = outcome.votes?.map(({ by }) => by) ?? (outcome.by === undefined ? [] : [outcome.by]);
  const sameWord = outcome.outcome === (decision === "approve" ? "approved" : "rejected");
  return { kind: "decided", outcome, counts: sameWord && said.some((by) => isSamePerson(by, approver.by)), wake };
}

/** What the answer is bound to: what was asked. */
function boundBy(waiter: Waiter, subject: ApprovalSubject): Partial<ApprovalOutcome> {
  const { payload_digest, tool_version, workflow_version, prompt_versions, snapshot_digest } = subject;
  return {
    payload_digest,
    tool_version,
    ...(workflow_version !== undefined && { workflow_version }),
    ...(prompt_versions && { prompt_versions }),
    ...(snapshot_digest !== undefined && { snapshot_digest }),
    valid_until: waiter.expires_at,
  };
}

/** A page that was opened before shows what is no more. */
function refuseUnseen(waiter: Waiter, subject: ApprovalSubject, request: DecisionRequest): void {
  const id = waiterId(waiter.run_id, waiter.position);
  if (waiter.superseded) {
    throw new BadRequest(
      "superseded",
      `approval ${id} counts no more (${waiter.superseded.reason}): nothing is sent on it. surefoot trace ${waiter.run_id} shows how its run went on, surefoot approvals what is asked now`,
      409,
      { reason: waiter.superseded.reason, version: waiterVersion(waiter) },
    );
  }
  if (request.payloadDigest !== undefined && request.payloadDigest !== subject.payload_digest) {
    throw new BadRequest(
      "digest_changed",
      `approval ${id} is for request ${subject.payload_digest}: look at it again. Nothing was decided`,
      409,
    );
  }
  const version = waiterVersion(waiter);
  if (request.expectedVersion !== undefined && request.expectedVersion !== version) {
    throw new BadRequest(
      "version_changed",
      `you looked at version ${request.expectedVersion} of approval ${id}, now it is version ${version}: look again. Nothing was decided`,
      409,
      { version },
    );
  }
}

/** A run that ended without this answer needs none. */
const runEnded = (waiter: Waiter, status: string): BadRequest =>
  new BadRequest(
    "run_ended",
    `approval ${waiterId(waiter.run_id, waiter.position)} belongs to a run that is ${status}: nothing was decided`,
    409,
  );

/** An answer would be taken by nobody: nothing of that version runs. Whatever takes the run over asks again, or finds this question. */
function refuseRetired(waiter: Waiter, run: RunRecord): void {
  const retired = retirementOf(run);
  if (!retired) return;
  throw new BadRequest(
    "version_retired",
    `approval ${waiterId(waiter.run_id, waiter.position)} belongs to version ${run.workflow_version} of ${run.agent}, which was retired by ${retired.by}: ${retired.reason}. Nothing was decided: surefoot resume ${run.run_id} --version <n> takes the run to another version, fork or cancel ends it here`,
    409,
    { workflow_version: run.workflow_version, retired_at: retired.at },
  );
}

function refused(waiter: Waiter, { approvers }: ApprovalSubject, { by }: Approver, refusal: Refusal): BadRequest {
  const id = waiterId(waiter.run_id, waiter.position);
  switch (refusal) {
    case "not_an_approver":
      return new BadRequest(
        refusal,
        `approval ${id} is decided by ${ruleInWords(approvers)}, found ${by}: ask one of them. Nothing was decided`,
        403,
      );
    case "requester_excluded":
      return new BadRequest(
        refusal,
        `${by} started the run of approval ${id}, and somebody else has to decide: ask ${ruleInWords(approvers)}. Nothing was decided`,
        403,
      );
    case "requester_unknown":
      return new BadRequest(
        refusal,
        `approval ${id} may not be decided by whoever started its run, and nobody was named then: cancel it, and start the run again with \`by\`. Nothing was decided`,
        409,
      );
    default:
      return refusal satisfies never;
  }
}
