import { isDeepStrictEqual } from "node:util";
import {
  GetExecutionHistoryCommand,
  type HistoryEvent,
  InvalidToken,
  SendTaskFailureCommand,
  SendTaskSuccessCommand,
  type SFNClient,
  TaskDoesNotExist,
  TaskTimedOut,
} from "@aws-sdk/client-sfn";
import { refused, type InvokeResult, type LambdaException } from "../../infra/local/lambda/lambda-failure.ts";

/** What one call of a function comes to. */
export type Turn =
  | { readonly kind: "return"; readonly payload: unknown }
  | { readonly kind: "throw"; readonly error: string; readonly message?: string }
  | { readonly kind: "refuse"; readonly exception: LambdaException }
  /** Never comes back. */
  | { readonly kind: "hang" }
  /** Keeps its task token and returns. `before`: the answer is sent while it still runs. */
  | { readonly kind: "ask"; readonly answer: Answer; readonly when: "before" | "after" };

export type Answer =
  | { readonly kind: "success"; readonly output: unknown }
  | { readonly kind: "failure"; readonly error: string; readonly cause?: string }
  | { readonly kind: "never" };

/** Call key → what its calls come to, one after the other. */
export type Script = Readonly<Record<string, readonly Turn[]>>;

/** The functions of one execution in one interpreter. */
export interface ScriptedRun {
  readonly sfn: SFNClient;
  readonly executionArn: string;
  readonly script: Script;
  /** Counts work as under way until it has settled. */
  during<T>(work: Promise<T>): Promise<T>;
  /** Nothing more will come for that state: its time may run out. */
  runOut(state: string): void;
}

interface Event {
  readonly state?: string;
  readonly line?: string;
  readonly action?: string;
  readonly task_token?: string;
}

/** A hand-written state names itself; a compiled one is known by its line and, beside the line's own Task, by what it does there. */
function keyOf({ state, line, action }: Event): string {
  if (state !== undefined) return state;
  if (line === undefined) return "settle";
  return action === undefined ? line : `${action} ${line}`;
}

/** Plays a script: the same calls come to the same ends in whichever interpreter makes them. */
export function scriptedInvoke(run: ScriptedRun): (payload: unknown) => Promise<InvokeResult> {
  const taken = new Map<string, number>();
  return async (payload) => {
    const event = payload as Event; // written by the definitions of these tests
    const key = keyOf(event);
    const index = taken.get(key) ?? 0;
    taken.set(key, index + 1);
    const turn = run.script[key]?.[index] ?? { kind: "throw", error: `script.has_no_call_${index + 1}_of ${key}` };
    if (turn.kind !== "hang") return run.during(play(run, turn, event));
    run.runOut(stateOf(await run.during(scheduling(run, event))));
    return new Promise<never>(() => {});
  };
}

async function play(run: ScriptedRun, turn: Exclude<Turn, { kind: "hang" }>, event: Event): Promise<InvokeResult> {
  switch (turn.kind) {
    case "return":
      return { ok: true, payload: turn.payload };
    case "throw": {
      const report = { errorType: turn.error, errorMessage: turn.message ?? "scripted", trace: [] };
      return { ok: false, error: turn.error, cause: JSON.stringify(report) };
    }
    case "refuse":
      return refused(turn.exception, "scripted");
    case "ask":
      if (turn.when === "before") await answer(run, event, turn.answer);
      else void run.during(untilSubmitted(run, event).then(() => answer(run, event, turn.answer))).catch(unlessTooLate);
      return { ok: true, payload: { asked: true } };
    default:
      return turn satisfies never;
  }
}

async function answer(run: ScriptedRun, event: Event, given: Answer): Promise<void> {
  const taskToken = event.task_token ?? "";
  switch (given.kind) {
    case "success":
      await run.sfn.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(given.output) }));
      return;
    case "failure":
      await run.sfn.send(new SendTaskFailureCommand({ taskToken, error: given.error, cause: given.cause }));
      return;
    case "never":
      run.runOut(stateOf(await scheduling(run, event)));
      return;
    default:
      given satisfies never;
  }
}

/** The Task may have ended some other way. */
function unlessTooLate(thrown: unknown): void {
  if (![InvalidToken, TaskDoesNotExist, TaskTimedOut].some((known) => thrown instanceof known)) throw thrown;
}

/** The Task has recorded that this call of its function returned. */
async function untilSubmitted(run: ScriptedRun, event: Event): Promise<void> {
  for (;;) {
    const { scheduled, after } = await scheduling(run, event);
    if (after.some((later) => later.type === "TaskSubmitted" && descends(later, scheduled, after))) return;
    await new Promise((next) => setTimeout(next, 20));
  }
}

interface Scheduling {
  readonly entered: HistoryEvent | undefined;
  readonly scheduled: HistoryEvent | undefined;
  readonly after: readonly HistoryEvent[];
}

/** Where the history tells of this call: it was recorded before the call was made. */
async function scheduling({ sfn, executionArn }: ScriptedRun, event: Event): Promise<Scheduling> {
  const { events = [] } = await sfn.send(new GetExecutionHistoryCommand({ executionArn, maxResults: 1000 }));
  const mine = (parameters: string | undefined): boolean =>
    parameters !== undefined && isDeepStrictEqual((JSON.parse(parameters) as { Payload: unknown }).Payload, event);
  const at = events.findLastIndex((one) => mine(one.taskScheduledEventDetails?.parameters));
  let entered = events[at];
  while (entered !== undefined && entered.type !== "TaskStateEntered") {
    const { previousEventId } = entered;
    entered = events.find((one) => one.id === previousEventId);
  }
  return { entered, scheduled: events[at], after: events.slice(at + 1) };
}

const stateOf = ({ entered }: Scheduling): string => entered?.stateEnteredEventDetails?.name ?? "";

function descends(event: HistoryEvent, from: HistoryEvent | undefined, between: readonly HistoryEvent[]): boolean {
  if (event.previousEventId === from?.id) return true;
  const before = between.find((one) => one.id === event.previousEventId);
  return before !== undefined && descends(before, from, between);
}
