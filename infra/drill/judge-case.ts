import type { Agent } from "../../shared/agent/agent.ts";
import { canonicalJson } from "../../shared/operation/canonical-json.ts";
import { ApprovalOutcome } from "../../shared/approval/approval.ts";
import { isOpen } from "../../shared/runlog/run-record.ts";
import { isAwaited } from "../../shared/waiter/waiter.ts";
import { toolsOf } from "../in-process/gated-agent.ts";
import type { TraceEntry } from "../in-process/trace.ts";
import type { Played, Rest } from "./play-case.ts";

/** What every case is held to, by name. */
export const invariants = {
  effect_once: "an operation happens at most once",
  effect_known: "what the ledger says of an operation is true, or UNKNOWN and with a person",
  started_before_effect: "nothing is sent before STARTED is on record",
  requests_owned: "no request is sent beyond the attempts on record",
  run_not_lost: "a run has ended, waits for something that will wake it, or is parked with its reason",
  asked_once: "an answer on record is never asked for again",
  approved_only: "an effect that needs approval is the one that was shown, and approved",
  same_result: "once all is well again, the result is the one of a run without faults",
} as const;
export type Invariant = keyof typeof invariants;

export interface Violation {
  readonly invariant: Invariant;
  readonly what: string;
}

/** Judges a case by what reached the outside, the tables and the trace. `clean` is the same run without faults. */
export function judgeCase(agent: Agent, played: Played, clean: Played): readonly Violation[] {
  const { rest, end } = played;
  if (!rest || !end)
    return [{ invariant: "run_not_lost", what: "the run could not be started, however often it was tried" }];
  return [
    ...effectsOf(end),
    ...truthOf(rest),
    ...truthOf(end),
    ...sendsOf(agent, played, end),
    ...lossOf(rest),
    ...lossOf(end),
    ...asksOf(agent, played, end),
    ...approvalsOf(agent, played, end),
    ...resultOf(played, end, clean),
  ];
}

const violation = (invariant: Invariant, what: string): Violation => ({ invariant, what });

function effectsOf({ effects }: Rest): Violation[] {
  const counts = new Map<string, number>();
  for (const { key, tool } of effects) counts.set(`${tool} ${key}`, (counts.get(`${tool} ${key}`) ?? 0) + 1);
  return [...counts].flatMap(([which, count]) =>
    count > 1 ? [violation("effect_once", `${which}: ${count} effects`)] : [],
  );
}

function truthOf({ operations, effects, history }: Rest): Violation[] {
  const recorded = new Set<string>(operations.map(({ operation_id }) => operation_id));
  const unrecorded = effects
    .filter(({ key }) => !recorded.has(key))
    .map(({ tool, key }) => violation("effect_known", `${tool} ${key} happened and is not on record`));
  const untrue = operations.flatMap((entry) => {
    const happened = effects.some(({ key }) => key === entry.operation_id);
    const name = `${entry.action_name} ${entry.operation_id}`;
    const says = `${name} is ${entry.status}`;
    switch (entry.status) {
      case "SUCCEEDED":
        return happened || entry.delivery === "human"
          ? []
          : [violation("effect_known", `${says}, and it did not happen`)];
      case "PENDING":
      case "FAILED_RETRYABLE":
      case "FAILED_FINAL":
        return happened ? [violation("effect_known", `${says}, and it happened`)] : [];
      case "UNKNOWN": {
        const told = history.waiters.some(
          ({ operation_id, status }) => operation_id === entry.operation_id && status === "OPEN",
        );
        return told || !isOpen(history.run.status) ? [] : [violation("effect_known", `${says}, and nobody is asked`)];
      }
      case "STARTED":
        return [violation("effect_known", `${says} for good`)];
      default:
        return entry.status satisfies never;
    }
  });
  return [...unrecorded, ...untrue];
}

const isPut = ({ port, verb, outcome, ids, fault }: TraceEntry, table: string): boolean =>
  // Of a write that lands twice the second is refused, and the first is on record.
  port === "dynamo" && verb === "Put" && ids["table"] === table && (outcome !== "refused" || fault === "duplicate");

function sendsOf(agent: Agent, { trace, strikes, requests }: Played, { operations }: Rest): Violation[] {
  const writes = new Set(toolsOf(agent).flatMap(({ effect, name }) => (effect === "write" ? [name] : [])));
  const sends = trace.filter(
    ({ port, verb, ids }) => port === "tool" && verb === "execute" && writes.has(ids["tool"] ?? ""),
  );
  const early = sends.flatMap((send) => {
    const id = send.ids["operation_id"] ?? "";
    const started = trace.some(
      (entry) =>
        entry.n < send.n &&
        isPut(entry, "ledger") &&
        entry.ids["operation_id"] === id &&
        entry.ids["status"] === "STARTED",
    );
    return started
      ? []
      : [
          violation(
            "started_before_effect",
            `call ${send.n} sent ${send.ids["tool"] ?? ""} ${id} before it was STARTED`,
          ),
        ];
  });
  const duplicated = strikes.filter(({ kind }) => kind === "duplicate").length;
  const beyond = operations.flatMap(({ operation_id: id, action_name, attempt }) => {
    const sent = requests.filter(({ verb, key }) => verb === "execute" && key === id).length;
    return sent > attempt + duplicated
      ? [violation("requests_owned", `${action_name} ${id}: ${sent} requests, ${attempt} attempts on record`)]
      : [];
  });
  return [...early, ...beyond];
}

function lossOf({ history: { run, steps, waiters }, operations }: Rest): Violation[] {
  if (!isOpen(run.status)) return [];
  if (run.status === "PARKED" && run.failure) return [];
  const waiter = waiters.find(({ status, task_token }) => status === "OPEN" && task_token !== undefined);
  if (!waiter) return [violation("run_not_lost", `the run is ${run.status}, and nothing will wake it`)];
  if (steps.some(({ position }) => position === waiter.position))
    return [violation("run_not_lost", `${waiter.node} is answered, and nobody tells the run`)];
  const entry = operations.find(({ operation_id }) => operation_id === waiter.operation_id);
  if (waiter.kind === "approval" || !entry) return [];
  if (!isAwaited(waiter, entry.status))
    return [violation("run_not_lost", `${entry.action_name} is ${entry.status}, and nobody tells the run`)];
  return entry.status === "PENDING" && entry.delivery === "queue"
    ? [violation("run_not_lost", `${entry.action_name} is PENDING, and nothing is on its way`)]
    : [];
}

/** An invocation that began after an answer was on record and asks for it again. One that had begun before may ask beside it. */
function asksOf(agent: Agent, { trace }: Played, { history }: Rest): Violation[] {
  if (history.run.status !== "SUCCEEDED") return [];
  const models = agent.nodes.filter(({ kind }) => kind === "model").map(({ name }) => name);
  const firstOf = new Map<string, number>();
  for (const { actor, n } of trace) if (!firstOf.has(actor)) firstOf.set(actor, n);
  return models.flatMap((node) => {
    const recorded = trace.filter(
      (entry) =>
        isPut(entry, "runs") &&
        /^STEP#/.test(entry.ids["item"] ?? "") &&
        entry.ids["item"]?.endsWith(`.${node}`) === true &&
        entry.outcome === "ok",
    );
    const last = recorded.at(-1)?.n ?? Infinity;
    const again = trace.filter(
      ({ port, verb, ids, actor }) =>
        port === "model" && verb !== "" && ids["node"] === node && (firstOf.get(actor) ?? 0) > last,
    );
    return again.map(({ n }) =>
      violation("asked_once", `call ${n} asked the model of ${node}, whose answer was on record since call ${last}`),
    );
  });
}

function approvalsOf(agent: Agent, { state }: Played, { operations, effects, history }: Rest): Violation[] {
  return agent.nodes.flatMap((node) => {
    if (node.kind !== "approval") return [];
    const of = operations.filter(({ position }) => position.endsWith(`.${node.of}`));
    const happened = of.filter(({ operation_id }) => effects.some(({ key }) => key === operation_id));
    const outcome = ApprovalOutcome.safeParse(state[node.name]);
    if (!outcome.success)
      return happened.length > 0
        ? [violation("approved_only", `${node.of} happened before ${node.name} was answered`)]
        : [];
    const { outcome: said, payload_digest: shown, approval_id } = outcome.data;
    if (said === "not_required") return [];
    const asked = history.waiters.filter(({ node: at, kind }) => kind === "approval" && at === node.name).length;
    const others = happened.filter(({ request_hash }) => said !== "approved" || request_hash !== shown);
    const wrong = others.map(({ operation_id }) =>
      violation(
        "approved_only",
        `${node.of} ${operation_id} happened, and ${node.name} (${approval_id ?? "?"}) says ${said} to another request`,
      ),
    );
    return happened.length > Math.max(1, asked)
      ? [...wrong, violation("approved_only", `${happened.length} operations of ${node.of} by ${asked} approvals`)]
      : wrong;
  });
}

/** By then everything that struck is over and an honest operator has looked after it. */
function resultOf(played: Played, { history: { run } }: Rest, clean: Played): Violation[] {
  const wanted = clean.end?.history.run;
  if (run.status !== wanted?.status || run.outcome !== wanted.outcome) {
    const why = run.failure ? `: ${run.failure.error.message}` : "";
    return [
      violation(
        "same_result",
        `ended ${run.status} ${run.outcome ?? ""}, a run without faults ${wanted?.status ?? "does not end"} ${wanted?.outcome ?? ""}${why}`,
      ),
    ];
  }
  const differing = Object.keys(clean.state).filter(
    (node) => businessOf(played.state[node]) !== businessOf(clean.state[node]),
  );
  return differing.map((node) =>
    violation(
      "same_result",
      `${node} gave ${businessOf(played.state[node])}, without faults ${businessOf(clean.state[node])}`,
    ),
  );
}

/** When somebody decided is not what came of it. */
function businessOf(output: unknown): string {
  const outcome = ApprovalOutcome.safeParse(output);
  return outcome.success ? outcome.data.outcome : canonicalJson(output ?? null);
}
