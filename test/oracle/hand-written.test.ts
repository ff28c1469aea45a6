import { describe, expect, test } from "vitest";
import { callback, machine, one, pass, task } from "./definitions.ts";
import { useInterpreters } from "./interpreters.ts";
import { knownDeviations } from "./known-deviations.ts";
import { describeWithMoto } from "./moto.ts";
import type { Turn } from "./scripted-functions.ts";

const returns = (payload: unknown): Turn => ({ kind: "return", payload });
const fail = (error: string): Turn => ({ kind: "throw", error });
const yes = (when: "before" | "after"): Turn => ({ kind: "ask", when, answer: { kind: "success", output: { ok: 1 } } });
const no = (when: "before" | "after"): Turn => ({ kind: "ask", when, answer: { kind: "failure", error: "No" } });
const hang: Turn = { kind: "hang" };
const nothing = { error: undefined, output: undefined };

describeWithMoto("two interpreters", (start) => {
  const both = useInterpreters(start);

  describe("agree on Parallel", () => {
    const parallel = (fields: object, ...branches: object[]) =>
      machine("Fork", {
        Fork: { Type: "Parallel", Branches: branches, Next: "Joined", ...fields },
        Joined: { Type: "Succeed" },
      });
    const caught = { Catch: [{ ErrorEquals: ["States.ALL"], ResultPath: "$.failure", Next: "Joined" }] };

    test("whose branches wait, and whose results stand in the order of the branches", async () => {
      const definition = parallel(
        { ResultPath: "$.results" },
        machine("Slow", { Slow: { Type: "Wait", Seconds: 20, Next: "A" }, A: pass({ Result: "a" }) }),
        machine("Fast", { Fast: { Type: "Wait", Seconds: 4, Next: "B" }, B: pass({ Result: "b" }) }),
        machine("C", { C: task("C", { ResultSelector: { "got.$": "$.Payload" } }) }),
      );
      const outcome = await both().agree({ definition, input: { in: 1 }, script: { C: [returns(3)] } });
      expect(JSON.parse(outcome.output ?? "")).toEqual({ in: 1, results: ["a", "b", { got: 3 }] });
    });

    test("whose branch fails, which ends the others and is caught", async () => {
      const definition = parallel(
        caught,
        machine("Broken", { Broken: { Type: "Fail", Error: "E", Cause: "C" } }),
        machine("Slow", { Slow: { Type: "Wait", Seconds: 4_000, End: true } }),
      );
      const outcome = await both().agree({ definition, input: {} });
      expect(JSON.parse(outcome.output ?? "")).toEqual({ failure: { Error: "E", Cause: "C" } });
    });

    test("that nothing catches", async () => {
      const definition = parallel({}, machine("Broken", { Broken: task("Broken") }));
      expect((await both().agree({ definition, script: { Broken: [fail("Boom")] } })).error).toBe("Boom");
    });

    test("that is tried again as a whole, with all its branches", async () => {
      const definition = parallel(
        { Retry: [{ ErrorEquals: ["Boom"], IntervalSeconds: 3, MaxAttempts: 2, BackoffRate: 3 }] },
        machine("Broken", { Broken: task("Broken", { ResultSelector: { "got.$": "$.Payload" } }) }),
        machine("Fine", { Fine: pass({ Result: 1 }) }),
      );
      const script = { Broken: [fail("Boom"), fail("Boom"), returns(7)] };
      const outcome = await both().agree({ definition, script });
      expect(outcome.pauses).toEqual({ Fork: [3, 9] });
      expect(JSON.parse(outcome.output ?? "")).toEqual([{ got: 7 }, 1]);
    });

    test("whose retries are spent", async () => {
      const retry = [{ ErrorEquals: ["States.ALL"], IntervalSeconds: 1, MaxAttempts: 1 }];
      const definition = parallel({ ...caught, Retry: retry }, machine("Broken", { Broken: task("Broken") }));
      const outcome = await both().agree({ definition, script: { Broken: [fail("A"), fail("B")] } });
      expect(outcome.status).toBe("SUCCEEDED");
    });

    test("whose branches wait for answers, retry and catch on their own", async () => {
      const definition = parallel(
        {},
        machine("AskA", { AskA: callback("AskA", { TimeoutSeconds: 600 }) }),
        machine("AskB", {
          AskB: callback("AskB", { Catch: [{ ErrorEquals: ["No"], ResultPath: null, Next: "Refused" }] }),
          Refused: pass({ Result: "refused" }),
        }),
        machine("Flaky", {
          Flaky: task("Flaky", {
            Retry: [{ ErrorEquals: ["Boom"], IntervalSeconds: 5, MaxAttempts: 3, BackoffRate: 1 }],
            ResultPath: null,
          }),
        }),
        machine("Late", {
          Late: callback("Late", {
            TimeoutSeconds: 30,
            Catch: [{ ErrorEquals: ["States.Timeout"], ResultPath: "$.late", Next: "Over" }],
          }),
          Over: pass({}),
        }),
      );
      const never: Turn = { kind: "ask", when: "after", answer: { kind: "never" } };
      const script = {
        AskA: [yes("after")],
        AskB: [no("before")],
        Flaky: [fail("Boom"), fail("Boom"), returns(1)],
        Late: [never],
      };
      const outcome = await both().agree({ definition, input: { in: 1 }, script });
      expect(outcome.status).toBe("SUCCEEDED");
      expect(outcome.pauses).toEqual({ Flaky: [5, 5] });
    });
  });

  describe("agree on data", () => {
    test.each([
      ["Parameters over InputPath", pass({ InputPath: "$.a", Parameters: { "x.$": "$.b", y: [{ "z.$": "$.b" }] } })],
      ["ResultPath into a new place", pass({ Result: { n: 1 }, ResultPath: "$.deep.er" })],
      ["ResultPath over an old place", pass({ Result: 1, ResultPath: "$.a.b" })],
      ["ResultPath null", pass({ Result: 1, ResultPath: null })],
      ["OutputPath", pass({ OutputPath: "$.a" })],
      ["InputPath null", pass({ InputPath: null })],
      ["OutputPath null", pass({ OutputPath: null })],
      ["a path to an array's item", pass({ Parameters: { "second.$": "$.list[1]" } })],
      ["the context object", pass({ Parameters: { "name.$": "$$.Execution.Name", "state.$": "$$.State.Name" } })],
      ["SecondsPath", { Type: "Wait", SecondsPath: "$.a.b", End: true }],
    ])("with %s", async (_title, state) => {
      const outcome = await both().agree({ definition: one(state), input: { a: { b: 2 }, list: [1, 2] } });
      expect(outcome.status).toBe("SUCCEEDED");
    });

    test("with a ResultSelector and a ResultPath at a Task, whose raw input goes on", async () => {
      const state = task("Only", {
        InputPath: "$.a",
        ResultSelector: { "got.$": "$.Payload.v", fixed: true },
        ResultPath: "$.r",
        OutputPath: "$.r",
      });
      const outcome = await both().agree({
        definition: one(state),
        input: { a: { b: 2 } },
        script: { Only: [returns({ v: [1, null, "x"] })] },
      });
      expect(JSON.parse(outcome.output ?? "")).toEqual({ got: [1, null, "x"], fixed: true });
    });
  });

  describe("agree on Choice", () => {
    const definition = machine("Pick", {
      Pick: {
        Type: "Choice",
        Choices: [
          {
            And: [
              { Variable: "$.a", IsPresent: true },
              { Variable: "$.a", StringEquals: "x" },
            ],
            Next: "Both",
          },
          {
            Or: [
              { Variable: "$.b", IsPresent: true },
              { Variable: "$.c", IsPresent: true },
            ],
            Next: "Either",
          },
          { Not: { Variable: "$.d", IsPresent: false }, Next: "Neither" },
        ],
        Default: "Otherwise",
      },
      Both: { Type: "Succeed" },
      Either: { Type: "Succeed" },
      Neither: { Type: "Fail", Error: "Neither" },
      Otherwise: { Type: "Fail" },
    });
    test.each([{ a: "x" }, { a: "y", b: null }, { c: 0 }, { d: "" }, {}])("given %j", async (input) => {
      const outcome = await both().agree({ definition, input });
      expect(outcome.status).toBe("a" in input || "c" in input ? "SUCCEEDED" : "FAILED");
    });
  });

  describe("agree on failures", () => {
    test.each([
      ["names its error and cause", { Type: "Fail", Error: "E", Cause: "because" }],
      ["names its error only", { Type: "Fail", Error: "E" }],
      ["names nothing", { Type: "Fail" }],
    ])("where a Fail state %s", async (_title, state) => {
      expect((await both().agree({ definition: one(state) })).status).toBe("FAILED");
    });

    test("where the first retrier that matches decides, and is not helped by a later one", async () => {
      const state = task("Only", {
        Retry: [
          { ErrorEquals: ["A", "B"], IntervalSeconds: 2, MaxAttempts: 1, BackoffRate: 1.5 },
          {
            ErrorEquals: ["States.TaskFailed"],
            IntervalSeconds: 7,
            MaxAttempts: 2,
            BackoffRate: 4,
            MaxDelaySeconds: 9,
          },
          { ErrorEquals: ["States.ALL"], IntervalSeconds: 5, MaxAttempts: 1 },
        ],
      });
      const definition = one(state);
      const spent = await both().agree({ definition, script: { Only: [fail("A"), fail("C"), fail("B")] } });
      expect(spent.error).toBe("B");
      expect(spent.pauses).toEqual({ Only: [2, 7] });
      const capped = await both().agree({ definition, script: { Only: [fail("C"), fail("C"), fail("C")] } });
      expect(capped.pauses).toEqual({ Only: [7, 9] });
    });

    test("where MaxAttempts is 0, no retry happens and the catcher goes on", async () => {
      const state = task("Only", {
        Retry: [
          { ErrorEquals: ["A"], MaxAttempts: 0 },
          { ErrorEquals: ["States.ALL"], IntervalSeconds: 1, MaxAttempts: 5 },
        ],
        Catch: [{ ErrorEquals: ["States.TaskFailed"], ResultPath: "$.f", Next: "Caught" }],
      });
      const definition = one(state, { Caught: pass({}) });
      const outcome = await both().agree({ definition, script: { Only: [fail("A")] } });
      expect(outcome.status).toBe("SUCCEEDED");
      expect(outcome.pauses).toEqual({});
    });

    test("where a state is entered again, its retries are counted anew", async () => {
      const retry = [{ ErrorEquals: ["A"], IntervalSeconds: 1, MaxAttempts: 2, BackoffRate: 2 }];
      const definition = machine("Work", {
        Work: task("Work", {
          Retry: retry,
          Catch: [{ ErrorEquals: ["Again"], ResultPath: null, Next: "Back" }],
          Next: "Done",
        }),
        Back: pass({ Next: "Work" }),
        Done: { Type: "Succeed" },
      });
      const script = { Work: [fail("A"), fail("A"), fail("Again"), fail("A"), fail("A"), returns(1)] };
      const outcome = await both().agree({ definition, script });
      expect(outcome.pauses).toEqual({ Work: [1, 2, 1, 2] });
    });

    test("where a function hangs: named by its own entry, by the wildcard, and never by States.TaskFailed", async () => {
      const retry = [{ ErrorEquals: ["States.Timeout"], IntervalSeconds: 1, MaxAttempts: 1 }];
      const retried = one(task("Only", { TimeoutSeconds: 10, Retry: retry }));
      const again = await both().agree({ definition: retried, script: { Only: [hang, returns(1)] } });
      expect(again.status).toBe("SUCCEEDED");
      const state = task("Only", {
        TimeoutSeconds: 10,
        Catch: [
          { ErrorEquals: ["States.TaskFailed"], Next: "Wrong" },
          { ErrorEquals: ["States.ALL"], Next: "Right" },
        ],
      });
      const definition = one(state, { Wrong: { Type: "Fail" }, Right: { Type: "Succeed" } });
      const caught = await both().agree({ definition, script: { Only: [hang] } });
      expect(JSON.parse(caught.output ?? "")).toEqual({ Error: "States.Timeout", Cause: "" });
    });

    test("where the whole execution runs out of time", async () => {
      const definition = { ...one({ Type: "Wait", Seconds: 6_000, End: true }), TimeoutSeconds: 1 };
      expect((await both().agree({ definition })).status).toBe("TIMED_OUT");
    });
  });

  describe("still differ, and AWS's documentation says what ours does", () => {
    test.each(knownDeviations.map((entry) => [entry.what, entry] as const))("%s", async (_what, deviation) => {
      const { ours, moto } = await both().run(deviation);
      expect({ error: ours.error, output: ours.output }).toEqual({ ...nothing, ...deviation.ours });
      expect({ error: moto.error, output: moto.output }).toEqual({ ...nothing, ...deviation.moto });
    });
  });
});
