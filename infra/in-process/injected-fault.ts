import { type AdmittedCall, type CallPattern, matches } from "./port-call.ts";

/** What may be done to one port call. */
export type InjectedFault =
  /** The caller's process dies; the call never leaves it. */
  | { readonly kind: "crash_before" }
  /** The call lands, then the caller's process dies before it hears of it. */
  | { readonly kind: "crash_after" }
  /** It lands, and the caller sees a broken connection. For a tool: the response is dropped. */
  | { readonly kind: "lost_ack" }
  /** It does not land, and the caller is told so: the service's own fault, a refused connection, or for a tool this HTTP status. */
  | { readonly kind: "error"; readonly status?: number }
  /** It does not land: too many requests. */
  | { readonly kind: "throttle"; readonly retryAfterSeconds?: number }
  /** It lands this much later. A caller that has reached its deadline by then is dead, and it never lands. */
  | { readonly kind: "delay"; readonly ms: number }
  /** It lands twice, as after a repeat by an SDK or a redelivery. */
  | { readonly kind: "duplicate" }
  /** It never arrives. A queue's sender believes that it did, a tool's caller hears nothing, and others see a broken connection. */
  | { readonly kind: "drop" }
  /** It lands at once, and the answer takes this long. */
  | { readonly kind: "slow"; readonly ms: number }
  /** The caller hears nothing, gives up at its abort, and it lands this long after it was sent. */
  | { readonly kind: "late_commit"; readonly ms: number }
  /** It lands, no answer ever comes, and the call ignores its abort. */
  | { readonly kind: "hang" }
  /** The platform takes the caller for timed out, while it goes on: it sleeps past its deadline, by this much, and then calls. */
  | { readonly kind: "zombie"; readonly ms: number }
  /** The wall clock of the caller's process is put forward (or back), then it calls. */
  | { readonly kind: "clock_jump"; readonly ms: number };
export type FaultKind = InjectedFault["kind"];

/** Where a fault strikes: the call with this number, or the calls that fit. */
export interface FaultRule {
  readonly at: number | CallPattern | ((call: AdmittedCall) => boolean);
  readonly fault: InjectedFault;
  /** The first of those that fit that is hit, counted from 1. @default 1 */
  readonly nth?: number;
  /** How many are hit, from that one on. @default 1 */
  readonly times?: number;
}

const toProcesses: readonly FaultKind[] = ["crash_before", "crash_after", "delay", "zombie", "clock_jump"];
const toRequests: readonly FaultKind[] = ["lost_ack", "error", "throttle", "duplicate"];

/** What can happen to this call. */
export function faultsThatFit({ port, verb, hasProcess }: AdmittedCall): readonly FaultKind[] {
  const ofCaller = hasProcess ? toProcesses : (["delay"] as const);
  switch (port) {
    case "dynamo":
    case "payloads":
    case "lambda":
      return [...ofCaller, ...toRequests];
    case "sfn":
      return [...ofCaller, ...toRequests, ...(verb.startsWith("Describe") ? [] : (["drop"] as const))];
    case "queue":
      return [...ofCaller, ...toRequests, "drop"];
    case "tool":
      if (verb === "execute") return [...ofCaller, ...toRequests, "drop", "slow", "late_commit", "hang"];
      // The agent's own callbacks have no abort to end them.
      if (verb === "precondition" || verb === "snapshot") return [...ofCaller, "error"];
      return [...ofCaller, ...toRequests, "slow", "hang"];
    case "model":
      return [...ofCaller, ...toRequests, "slow", "hang"];
    default:
      return port satisfies never;
  }
}

/** The rules that are still to strike. */
export class FaultPlan {
  readonly #rules: { readonly rule: FaultRule; seen: number }[] = [];

  add(rule: FaultRule): void {
    this.#rules.push({ rule, seen: 0 });
  }

  /** What strikes this call: of two rules at once, the one that was given first. @throws RangeError where it cannot happen to this call. */
  take(call: AdmittedCall): InjectedFault | undefined {
    const struck = this.#rules.filter((counted) => counts(counted, call));
    const fault = struck[0]?.rule.fault;
    if (fault === undefined) return undefined;
    const fitting = faultsThatFit(call);
    if (fitting.includes(fault.kind)) return fault;
    throw new RangeError(
      `${fault.kind} cannot happen to call ${call.n}, ${call.port}.${call.verb} by ${call.actor}: expected one of ${fitting.join(", ")}`,
    );
  }

  /** Rules that have not struck as often as they should. */
  get unspent(): readonly FaultRule[] {
    return this.#rules.filter(({ rule, seen }) => seen < lastOf(rule)).map(({ rule }) => rule);
  }
}

const lastOf = ({ nth = 1, times = 1 }: FaultRule): number => nth + times - 1;

function counts(counted: { readonly rule: FaultRule; seen: number }, call: AdmittedCall): boolean {
  const { at, nth = 1 } = counted.rule;
  const fits = typeof at === "number" ? at === call.n : typeof at === "function" ? at(call) : matches(at, call);
  if (!fits) return false;
  counted.seen++;
  return counted.seen >= nth && counted.seen <= lastOf(counted.rule);
}
