import type { Capability, LedgerEntry } from "../../../shared/ledger/ledger-entry.ts";
import type { Actor } from "./actor.ts";
import type { OutsideWorld } from "./outside-world.ts";

/** At the moment of sending: what the ledger says then is what a later reader would have found. `requests` counts this one. */
export function judgeSend(
  actor: Actor,
  entry: LedgerEntry | undefined,
  requests: number,
  capability: Capability,
): readonly string[] {
  const own = entry?.attempt_token?.startsWith(`${actor.name}-`) === true;
  // A late success of an earlier attempt may arrive between the claim and the send: the same key is then deduped outside.
  const lateSuccess = entry?.status === "SUCCEEDED" && own && capability === "key";
  if (entry?.status !== "STARTED" && !lateSuccess) return [`sent while the ledger said ${entry?.status ?? "nothing"}`];
  if (requests > entry.attempt) return [`request ${requests} was sent, ${entry.attempt} attempts are on record`];
  return own ? [] : [`${actor.name} sent, and the attempt on record is another's`];
}

/** When an executor is told of a success. */
export function judgeAnswer(
  actor: Actor,
  amountCents: number,
  answer: string,
  entry: LedgerEntry | undefined,
): readonly string[] {
  const problems: string[] = [];
  if (!answer.includes(String(amountCents)))
    problems.push(`${actor.name} asked for ${amountCents} and was answered ${answer}`);
  if (entry?.status !== "SUCCEEDED") problems.push(`${actor.name} was told of a success that is not on record`);
  return problems;
}

/** A success always counts: whoever heard it and lived to the end has it on record, whatever was decided meanwhile. */
export function judgeEnd(actor: Actor, heard: boolean, entry: LedgerEntry | undefined): readonly string[] {
  if (!heard || entry?.status === "SUCCEEDED") return [];
  return [`${actor.name} heard of the success, and the record says ${entry?.status ?? "nothing"}`];
}

/** When everybody has gone home: what is on record must be true. */
export function judgeRest(
  entry: LedgerEntry | undefined,
  { effects }: OutsideWorld,
  answers: readonly string[],
  capability: Capability,
): readonly string[] {
  const problems: string[] = [];
  const happened = effects.length;
  if (happened > 1) problems.push(`${happened} effects`);
  if (new Set(answers).size > 1) problems.push(`different answers: ${answers.join(" and ")}`);
  if (!entry) return happened > 0 ? [...problems, "an effect without a record"] : problems;
  if (entry.status === "STARTED") problems.push("nobody ever finds out: it is STARTED for good");
  const denied = ["PENDING", "FAILED_RETRYABLE", "FAILED_FINAL"].includes(entry.status);
  if (denied && happened > 0) problems.push(`${entry.status}, and it happened`);
  if (entry.status === "SUCCEEDED" && happened === 0) problems.push("SUCCEEDED, and it did not happen");
  const [first] = effects;
  if (entry.status === "SUCCEEDED" && first && entry.external_ref !== first.receipt.ref)
    problems.push(`recorded as ${String(entry.external_ref)}, happened as ${first.receipt.ref}`);
  if (entry.status === "UNKNOWN" && capability === "query" && happened > 0)
    problems.push("UNKNOWN for good, though the other side would say that it happened");
  return problems;
}
