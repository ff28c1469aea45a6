import { callback, machine, one, pass, task } from "./definitions.ts";
import type { Case } from "./interpreters.ts";

/** How an execution ended. */
interface End {
  readonly error?: string;
  readonly output?: string;
}

/** A place where moto 5.2 departs from what AWS documents. No other test and no generated definition goes there. Each is shown to
 *  differ, so that an entry leaves the table when moto has mended it. */
interface Deviation extends Case {
  readonly what: string;
  /** Where AWS says what ours does. */
  readonly source: string;
  readonly ours: End;
  readonly moto: End;
}

const errorNames = "Step Functions developer guide, Handling errors in Step Functions workflows, Error names";
const choices = "Step Functions developer guide, Choice workflow state";
const catches = (error: string): object => ({
  Catch: [{ ErrorEquals: [error], ResultPath: "$.failure", Next: "Caught" }],
});
const Caught = pass({ Result: { caught: true } });
const caught: End = { output: '{"caught":true}' };
/** One byte more than a result may have. */
const tooLarge = "x".repeat(262_145);

export const knownDeviations: readonly Deviation[] = [
  {
    what: "a missed heartbeat is called States.HeartbeatTimeout",
    source: errorNames,
    definition: one(callback("Only", { HeartbeatSeconds: 1, TimeoutSeconds: 600 })),
    script: { Only: [{ kind: "return", payload: 1 }] },
    ours: { error: "States.HeartbeatTimeout" },
    moto: { error: "States.Timeout" },
  },
  {
    what: "States.ALL does not catch States.Runtime",
    source: errorNames,
    definition: one(task("Only", { ResultSelector: { "x.$": "$.missing" }, ...catches("States.ALL") }), { Caught }),
    script: { Only: [{ kind: "return", payload: 1 }] },
    ours: { error: "States.Runtime" },
    moto: caught,
  },
  {
    what: "States.ALL does not catch States.DataLimitExceeded",
    source: errorNames,
    definition: one(task("Only", catches("States.ALL")), { Caught }),
    script: { Only: [{ kind: "return", payload: tooLarge }] },
    ours: { error: "States.DataLimitExceeded" },
    moto: caught,
  },
  {
    what: "a Choice that reads a missing field fails",
    source: `${choices}: test with IsPresent before you read`,
    definition: one(
      { Type: "Choice", Choices: [{ Variable: "$.missing", StringEquals: "x", Next: "Caught" }], Default: "Caught" },
      { Caught },
    ),
    ours: { error: "States.Runtime" },
    moto: caught,
  },
  {
    what: "a Choice without a match and without a Default is States.NoChoiceMatched",
    source: errorNames,
    definition: one({ Type: "Choice", Choices: [{ Variable: "$.a", StringEquals: "x", Next: "Caught" }] }, { Caught }),
    input: { a: "y" },
    ours: { error: "States.NoChoiceMatched" },
    moto: { error: "States.Runtime" },
  },
  {
    what: "a ResultPath without a place in the input is States.ResultPathMatchFailure",
    source: errorNames,
    definition: one(pass({ Result: 1, ResultPath: "$.a.b" })),
    input: { a: "text" },
    ours: { error: "States.ResultPathMatchFailure" },
    moto: { error: "States.Runtime" },
  },
  {
    what: "SendTaskFailure's cause arrives",
    source: "Step Functions API reference, SendTaskFailure",
    definition: one(callback("Only", catches("No")), { Caught: pass({}) }),
    script: { Only: [{ kind: "ask", when: "after", answer: { kind: "failure", error: "No", cause: "because" } }] },
    ours: { output: '{"failure":{"Cause":"because","Error":"No"}}' },
    moto: { output: '{"failure":{"Cause":null,"Error":"No"}}' },
  },
  {
    what: "a Parallel can catch a timeout of its branch",
    source: errorNames,
    definition: one(
      {
        Type: "Parallel",
        Branches: [machine("Stuck", { Stuck: task("Stuck", { TimeoutSeconds: 5 }) })],
        ...catches("States.Timeout"),
        End: true,
      },
      { Caught },
    ),
    script: { Stuck: [{ kind: "hang" }] },
    ours: caught,
    moto: { error: "States.Runtime" },
  },
  {
    what: "a catcher may lead back to its own state",
    source: "Amazon States Language specification, Fallback states: Next is the name of any state",
    definition: one(
      task("Only", { Catch: [{ ErrorEquals: ["Again"], ResultPath: null, Next: "Only" }], Next: "Caught" }),
      { Caught },
    ),
    script: {
      Only: [
        { kind: "throw", error: "Again" },
        { kind: "throw", error: "Other" },
      ],
    },
    ours: { error: "Other" },
    moto: caught,
  },
  {
    what: "a callback Task that is retried after an answer waits for another one",
    source: "Step Functions developer guide, Wait for a callback with the task token: a token belongs to one attempt",
    definition: one(
      callback("Only", {
        TimeoutSeconds: 600,
        Retry: [{ ErrorEquals: ["No"], IntervalSeconds: 1, MaxAttempts: 1 }],
        ...catches("States.ALL"),
      }),
      { Caught },
    ),
    script: {
      Only: [
        { kind: "ask", when: "after", answer: { kind: "failure", error: "No" } },
        { kind: "ask", when: "after", answer: { kind: "success", output: { ok: true } } },
      ],
    },
    ours: { output: '{"ok":true}' },
    moto: caught,
  },
];
