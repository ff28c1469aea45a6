import { chooseNext } from "./choice.ts";
import { combineResult, fillParameters, narrow } from "./data-flow.ts";
import { NOT_TRUNCATED } from "./history.ts";
import type { Json } from "./json.ts";
import { parsePath, readPath } from "./json-path.ts";
import { attemptBranches } from "./parallel.ts";
import { textWithinLimit } from "./payload-limit.ts";
import { toStateFailure, withRecovery, type Recovered } from "./recovery.ts";
import { PathFailure, StateFailure } from "./state-failure.ts";
import type { Branch, FailState, ParallelState, PassState, State, TaskState, WaitState } from "./state-schema.ts";
import { attemptTask } from "./task.ts";
import type { Thread } from "./thread.ts";
import { contextOf, type Visit } from "./visit.ts";

/** Where a state leads. Without `next` its branch ends with `output`. */
interface Step {
  readonly output: Json;
  readonly next?: string;
}

/** Runs a branch (or a whole state machine) from StartAt to its end and returns the last output.
 *  @throws StateFailure when a state fails and nothing catches it, Cancelled when the thread's scope ends. */
export async function runBranch(branch: Branch, input: Json, thread: Thread): Promise<Json> {
  let step: Step = { output: input, next: branch.startAt };
  while (step.next !== undefined) {
    const state = branch.states.get(step.next);
    if (state === undefined) throw new StateFailure("States.Runtime", `The state '${step.next}' does not exist`);
    step = await runState(step.next, state, step.output, thread);
  }
  return step.output;
}

async function runState(name: string, state: State, input: Json, thread: Thread): Promise<Step> {
  const visit = enter(name, state, input, thread);
  try {
    const step = await perform(state, visit, input);
    const output = textWithinLimit(name, step.output);
    if (state.Type !== "Fail") {
      thread.record(`${state.Type}StateExited`, {
        stateExitedEventDetails: { name, output, outputDetails: NOT_TRUNCATED },
      });
    }
    return step;
  } catch (thrown) {
    throw toStateFailure(thrown, visit);
  }
}

function enter(name: string, state: State, input: Json, thread: Thread): Visit {
  const { run } = thread;
  const enteredEventId = thread.record(`${state.Type}StateEntered`, {
    stateEnteredEventDetails: { name, input: JSON.stringify(input), inputDetails: NOT_TRUNCATED },
  });
  run.transitions += 1;
  const enteredTime = new Date(run.ports.timers.now()).toISOString();
  return { name, thread, enteredEventId, enteredTime, retryCount: 0 };
}

async function perform(state: State, visit: Visit, rawInput: Json): Promise<Step> {
  if (state.Type === "Fail") return fail(state);
  const input = narrow("InputPath", state.InputPath, rawInput, visit);
  switch (state.Type) {
    case "Choice": {
      const next = chooseNext(visit.name, state, { data: input, context: contextOf(visit) });
      return { output: narrow("OutputPath", state.OutputPath, input, visit), next };
    }
    case "Succeed":
      return { output: narrow("OutputPath", state.OutputPath, input, visit) };
    case "Pass":
      return leave(state, visit, pass(state, visit, rawInput, input));
    case "Wait":
      await wait(state, visit, input);
      return leave(state, visit, input);
    case "Task":
      return leaveRecovered(state, visit, await runTask(state, visit, rawInput, input));
    case "Parallel":
      return leaveRecovered(state, visit, await runParallel(state, visit, rawInput, input));
    default:
      return state satisfies never;
  }
}

function pass(state: PassState, visit: Visit, rawInput: Json, input: Json): Json {
  const parameters = fillParameters(state.Parameters, input, visit);
  return combineResult(
    { ResultPath: state.ResultPath },
    rawInput,
    state.Result === undefined ? parameters : state.Result,
    visit,
  );
}

async function wait(state: WaitState, visit: Visit, input: Json): Promise<void> {
  const { run, scope } = visit.thread;
  await scope.sleep(run.ports.timers, waitSeconds(state, visit, input) * 1000);
}

function waitSeconds(state: WaitState, visit: Visit, input: Json): number {
  if (state.SecondsPath === undefined) return state.Seconds ?? 0;
  const found = readPath(parsePath(state.SecondsPath), { data: input, context: contextOf(visit) });
  if (typeof found === "number" && Number.isInteger(found) && found >= 0 && found <= 99_999_999) return found;
  const cause = `The SecondsPath parameter does not reference a valid value: expected a whole number from 0 to 99999999 at ${state.SecondsPath}, found ${JSON.stringify(found)}`;
  throw new PathFailure(cause);
}

function runTask(state: TaskState, visit: Visit, rawInput: Json, input: Json): Promise<Recovered> {
  return withRecovery(state, visit, rawInput, async () =>
    combineResult(state, rawInput, await attemptTask(state, visit, input), visit),
  );
}

function runParallel(state: ParallelState, visit: Visit, rawInput: Json, input: Json): Promise<Recovered> {
  const { thread } = visit;
  const attempt = async (): Promise<Json> => {
    const parameters = fillParameters(state.Parameters, input, visit);
    return combineResult(state, rawInput, await attemptBranches(state.branches, parameters, thread, runBranch), visit);
  };
  return withRecovery(state, visit, rawInput, attempt, () => thread.record("ParallelStateFailed"));
}

function fail(state: FailState): never {
  throw new StateFailure(state.Error ?? "", state.Cause ?? "");
}

/** OutputPath shapes a success only; what a catcher passes on is left as it is. */
function leaveRecovered(state: TaskState | ParallelState, visit: Visit, recovered: Recovered): Step {
  return recovered.kind === "caught" ? recovered : leave(state, visit, recovered.output);
}

function leave(state: TaskState | ParallelState | PassState | WaitState, visit: Visit, data: Json): Step {
  const output = narrow("OutputPath", state.OutputPath, data, visit);
  return state.Next === undefined ? { output } : { output, next: state.Next };
}
