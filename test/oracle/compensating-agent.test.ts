import { expect, test } from "vitest";
import { compileAgent } from "../../shared/index.ts";
import { tripAgent } from "../builders/trip-agent.ts";
import { useInterpreters } from "./interpreters.ts";
import { describeWithMoto } from "./moto.ts";
import type { Answer, Turn } from "./scripted-functions.ts";

const exit = (next: string): Turn => ({ kind: "return", payload: { run_id: "r-1", position: "0009.after", next } });
const fail = (error: string): Turn => ({ kind: "throw", error });
const answered = (answer: Answer, when: "before" | "after" = "after"): Turn => ({ kind: "ask", answer, when });
const yes: Answer = { kind: "success", output: {} };
const no = (error: string): Answer => ({ kind: "failure", error });
const never: Answer = { kind: "never" };

describeWithMoto("the states of an agent that says how to undo come to the same in both interpreters", (start) => {
  const both = useInterpreters(start);
  const { definition } = compileAgent(tripAgent({ review: true, cancelCar: "queue" }));
  const book = "hotel+car+mail+review";
  const undo = "compensate!";
  const settling = (next: string): Turn => ({ kind: "return", payload: { status: "RUNNING", next } });
  const run = (script: Record<string, readonly Turn[]>, resumeAt = "hotel") => {
    const input = { run_id: "r-1", position: "0000.hotel", next: resumeAt };
    return both().agree({ definition, input, script });
  };

  test("when a failure is compensated, and the execution fails after it", async () => {
    const script = { [book]: [fail("surefoot.final.car")], settle: [settling(undo)], [undo]: [exit("failed!")] };
    const outcome = await run(script);
    expect(outcome.error).toBe("surefoot.run_stopped");
    expect(outcome.history.join("\n")).toContain("Compensate operations");
  });

  test("when a failure parks the run instead", async () => {
    const outcome = await run({ [book]: [fail("surefoot.exhausted.car")], settle: [settling("end")] });
    expect(outcome.error).toBe("surefoot.run_stopped");
    expect(outcome.history.join("\n")).not.toContain("Compensate operations");
  });

  test("when a rejection is compensated, with a failure that passes, an effect in doubt and one in other hands", async () => {
    const outcome = await run({
      [book]: [exit("wait!"), exit(undo)],
      [`ask ${book}`]: [answered(no("surefoot.rejected"))],
      [undo]: [
        fail("surefoot.retryable.car.compensate"),
        fail("surefoot.handed_out.car.compensate"),
        fail("surefoot.unknown.hotel"),
        fail("surefoot.later"),
        exit("end"),
      ],
      [`ask ${undo}`]: [answered(yes), answered(yes, "before")],
    });
    expect(outcome.status).toBe("SUCCEEDED");
  });

  test("when an operator has a run compensated in a new execution", async () => {
    expect((await run({ [undo]: [exit("end")] }, undo)).status).toBe("SUCCEEDED");
  });

  test.each([
    ["fails for good", { [undo]: [fail("surefoot.final.hotel.compensate")], settle: [settling("end")] }],
    [
      "waits for a person who never comes",
      { [undo]: [fail("surefoot.unknown.car")], [`ask ${undo}`]: [answered(never)], settle: [settling("end")] },
    ],
  ])("when the compensation %s and is settled apart", async (_title, script) => {
    const outcome = await run(script, undo);
    expect(outcome.error).toBe("surefoot.run_stopped");
    expect(outcome.history.join("\n")).toContain("Settle compensation");
  });

  test("when another execution has taken the compensation over", async () => {
    expect((await run({ [undo]: [fail("surefoot.stale")] }, undo)).status).toBe("SUCCEEDED");
  });
});
