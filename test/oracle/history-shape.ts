import type { HistoryEvent } from "@aws-sdk/client-sfn";
import { detailsOf } from "./normalisations.ts";

/** The parts of a definition that say which state runs in which branch. */
export interface StatesOf {
  readonly States: Readonly<Record<string, { readonly Type: string; readonly Branches?: readonly StatesOf[] }>>;
}

const failing = ["FailStateEntered", "TaskFailed", "TaskTimedOut"];

/** A history as lines to compare: one an event, those of a Parallel's branches under the attempt they belong to. Parallels inside
 *  Parallels are not supported. */
export function shapeOf(history: readonly HistoryEvent[], definition: StatesOf): string[] {
  const byId = new Map(history.map((event) => [event.id ?? 0, event]));
  const branchOf = branches(definition);
  const sequential = branchOf.size === 0;
  const line = (event: HistoryEvent): string =>
    [...(sequential ? [`${event.id}<-${event.previousEventId}`] : []), event.type, detailsOf(event)].join(" ");

  const inBranch = (event: HistoryEvent): string | undefined => branchOf.get(stateOf(event, byId) ?? "");
  const top = history.filter((event) => inBranch(event) === undefined);
  return top.flatMap((event, index) => {
    if (event.type !== "ParallelStateStarted") return [line(event)];
    const events = history.filter((other) => inBranch(other) !== undefined && attemptOf(other, byId) === event.id);
    const lanes = new Map<string, HistoryEvent[]>();
    for (const other of events) {
      const name = inBranch(other) ?? "";
      lanes.set(name, [...(lanes.get(name) ?? []), other]);
    }
    const succeeded = top[index + 1]?.type === "ParallelStateSucceeded";
    const shown = [...lanes]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .filter(([, lane]) => succeeded || failing.includes(lane.at(-1)?.type ?? ""));
    return [line(event), ...shown.flatMap(([name, lane]) => lane.map((each) => `  ${name}: ${line(each)}`))];
  });
}

/** The pauses that Retry made in an execution on a clock that only moves for timers: state → seconds, in order. */
export function pausesIn(history: readonly HistoryEvent[]): Record<string, number[]> {
  const byId = new Map(history.map((event) => [event.id ?? 0, event]));
  const pauses: Record<string, number[]> = {};
  const failedBefore = new Map<string, HistoryEvent>();
  for (const event of history) {
    const again = event.type === "TaskScheduled" || event.type === "ParallelStateStarted";
    const state = event.type === "ParallelStateStarted" ? lastEntered(history, event) : stateOf(event, byId);
    const before = again && state !== undefined ? failedBefore.get(state) : undefined;
    if (state !== undefined && before !== undefined) {
      const from = event.type === "ParallelStateStarted" ? byId.get((event.id ?? 0) - 1) : before;
      (pauses[state] ??= []).push(((event.timestamp?.getTime() ?? 0) - (from?.timestamp?.getTime() ?? 0)) / 1000);
    }
    if (state === undefined) continue;
    if (event.type === "TaskFailed" || event.type === "TaskTimedOut" || event.type === "ParallelStateStarted") {
      failedBefore.set(state, event);
    } else if (event.type?.endsWith("StateEntered") === true) failedBefore.delete(state);
  }
  return pauses;
}

/** The state whose visit an event belongs to. */
function stateOf(event: HistoryEvent, byId: ReadonlyMap<number, HistoryEvent>): string | undefined {
  if (event.type?.startsWith("Execution") === true || event.type?.startsWith("ParallelState") === true)
    return undefined;
  const named = event.stateEnteredEventDetails?.name ?? event.stateExitedEventDetails?.name;
  if (named !== undefined) return named;
  const before = byId.get(event.previousEventId ?? 0);
  return before === undefined ? undefined : stateOf(before, byId);
}

function lastEntered(history: readonly HistoryEvent[], event: HistoryEvent): string | undefined {
  return history.findLast((other) => other.type === "ParallelStateEntered" && (other.id ?? 0) < (event.id ?? 0))
    ?.stateEnteredEventDetails?.name;
}

/** Id of the ParallelStateStarted that a branch's event goes back to. */
function attemptOf(event: HistoryEvent, byId: ReadonlyMap<number, HistoryEvent>): number | undefined {
  const before = byId.get(event.previousEventId ?? 0);
  if (before === undefined) return undefined;
  return before.type === "ParallelStateStarted" ? before.id : attemptOf(before, byId);
}

/** State name → its branch, for the states that run inside a Parallel. */
function branches(definition: StatesOf): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(definition.States).flatMap(([parallel, state]) =>
      (state.Branches ?? []).flatMap((branch, index) =>
        Object.keys(branch.States).map((name) => [name, `${parallel}[${index}]`] as const),
      ),
    ),
  );
}
