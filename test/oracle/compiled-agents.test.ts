import { expect, test } from "vitest";
import shippedAgent from "../../lambdas/agents/refund-agent/agent.ts";
import { compileAgent } from "../../shared/index.ts";
import { approvalFirstAgent, emptyWorld, routedAgent } from "../builders/agents.ts";
import { useInterpreters } from "./interpreters.ts";
import { describeWithMoto } from "./moto.ts";
import type { Answer, Turn } from "./scripted-functions.ts";

/** A line came to its end and names what follows. */
const exit = (next: string): Turn => ({ kind: "return", payload: { run_id: "r-1", position: "0009.after", next } });
const fail = (error: string): Turn => ({ kind: "throw", error });
const times = (count: number, turn: Turn): Turn[] => Array.from({ length: count }, () => turn);
const answered = (answer: Answer, when: "before" | "after" = "after"): Turn => ({ kind: "ask", answer, when });
const yes: Answer = { kind: "success", output: {} };
// Without a cause, which moto drops: known-deviations.test.ts.
const no = (error: string): Answer => ({ kind: "failure", error });
const never: Answer = { kind: "never" };
const hang: Turn = { kind: "hang" };
const settled: Turn = { kind: "return", payload: { status: "FAILED" } };

describeWithMoto("the shipped refund agent's states come to the same in both interpreters", (start) => {
  const both = useInterpreters(start);
  const { definition } = compileAgent(shippedAgent);
  const plan = "plan+order+draft+review";
  const act = "refund+notify+verify+finalize";
  const run = (script: Record<string, readonly Turn[]>, resumeAt = "plan") => {
    const input = { run_id: "r-1", position: "0000.plan", next: resumeAt };
    return both().agree({ definition, input, script });
  };

  test("when nobody has to be asked", async () => {
    const outcome = await run({ [plan]: [exit("refund")], [act]: [exit("end")] });
    expect(outcome.status).toBe("SUCCEEDED");
  });

  test.each(["before", "after"] as const)(
    "when a reviewer approves %s the wait function has returned",
    async (when) => {
      const script = { [plan]: [exit("wait!")], [`ask ${plan}`]: [answered(yes, when)], [act]: [exit("end")] };
      expect((await run(script)).status).toBe("SUCCEEDED");
    },
  );

  test.each(["before", "after"] as const)("when a reviewer rejects %s the wait function has returned", async (when) => {
    const outcome = await run({
      [plan]: [exit("wait!"), exit("wait!")],
      [`ask ${plan}`]: [answered(no("surefoot.rejected"), when), answered(yes)],
      [act]: [exit("end")],
    });
    expect(outcome.status).toBe("SUCCEEDED");
  });

  test("when the sweep records an expiry and the line closes the run", async () => {
    const outcome = await run({
      [plan]: [exit("wait!"), exit("end")],
      [`ask ${plan}`]: [answered(no("surefoot.expired"))],
    });
    expect(outcome.status).toBe("SUCCEEDED");
  });

  test.each([
    ["the expiry stands", "end", [exit("wait!"), exit("end")], []],
    ["an approval was first", "refund", [exit("wait!")], [exit("end")]],
    ["a rejection was first", "plan", [exit("wait!"), exit("refund")], [exit("end")]],
  ])("when the wait itself times out and %s", async (_title, next, planned, acted) => {
    const outcome = await run({
      [plan]: planned,
      [`ask ${plan}`]: [answered(never)],
      [`expire ${plan}`]: [exit(next)],
      [act]: acted,
    });
    expect(outcome.status).toBe("SUCCEEDED");
    expect(outcome.history.join("\n")).toContain("Expire review");
  });

  test("when a failure passes within its node's budget", async () => {
    const script = { [plan]: [exit("refund")], [act]: [...times(2, fail("surefoot.retryable.refund")), exit("end")] };
    const outcome = await run(script);
    expect(outcome.status).toBe("SUCCEEDED");
    expect(outcome.pauses).toEqual({ [act]: [0.5, 1] });
  });

  test("when each class of a line spends its own budget and no other's", async () => {
    const outcome = await run({
      [plan]: [
        fail("surefoot.retryable.plan"),
        fail("surefoot.timeout.plan"),
        fail("surefoot.retryable.order"),
        fail("surefoot.retryable.plan"),
        fail("surefoot.hand_over"),
        fail("surefoot.retryable.draft"),
        exit("refund"),
      ],
      [act]: [exit("end")],
    });
    expect(outcome.status).toBe("SUCCEEDED");
    expect(outcome.pauses).toEqual({ [plan]: [0.5, 1, 0.5, 1, 1, 0.5] });
  });

  test.each([
    ["a node's retries", "surefoot.retryable.notify", 2],
    ["the one repeat after a node's timeout", "surefoot.timeout.verify", 1],
    ["the platform's retries", "Runtime.ExitError", 5],
    ["the one repeat after a killed invocation", "Sandbox.Timedout", 1],
  ])("when the budget is spent of %s, and the failure is settled", async (_title, error, retries) => {
    const script = { [plan]: [exit("refund")], [act]: times(retries + 1, fail(error)), settle: [settled] };
    const outcome = await run(script);
    expect(outcome.error).toBe("surefoot.run_stopped");
    expect(outcome.pauses[act]).toHaveLength(retries);
  });

  test("when an operation is in flight, and the line comes back to it later and later", async () => {
    const script = { [plan]: [exit("refund")], [act]: [...times(13, fail("surefoot.later")), exit("end")] };
    const outcome = await run(script);
    expect(outcome.status).toBe("SUCCEEDED");
    expect(outcome.pauses[act]?.slice(0, 4)).toEqual([1, 1.5, 2.25, 3.375]);
    expect(outcome.pauses[act]?.slice(-2)).toEqual([60, 60]);
  });

  test("when Lambda refuses the call for now", async () => {
    const refusal: Turn = { kind: "refuse", exception: "TooManyRequestsException" };
    const outcome = await run({ [plan]: [...times(3, refusal), exit("refund")], [act]: [exit("end")] });
    expect(outcome.status).toBe("SUCCEEDED");
    expect(outcome.pauses).toEqual({ [plan]: [1, 2, 4] });
  });

  test("when Lambda refuses the call for good", async () => {
    const refusal: Turn = { kind: "refuse", exception: "ResourceNotFoundException" };
    expect((await run({ [plan]: [refusal], settle: [settled] })).error).toBe("surefoot.run_stopped");
  });

  test("when an effect is in doubt, a person resolves it, and the line asks the ledger again", async () => {
    const outcome = await run({
      [plan]: [exit("refund")],
      [act]: [fail("surefoot.unknown.refund"), fail("surefoot.unknown.notify"), exit("end")],
      [`ask ${act}`]: [answered(yes), answered(yes, "before")],
    });
    expect(outcome.status).toBe("SUCCEEDED");
  });

  test.each(["before", "after"] as const)(
    "when its mail is handed to the queue, whose worker tells the run %s the wait function has returned",
    async (told) => {
      const outcome = await run({
        [plan]: [exit("refund")],
        [act]: [fail("surefoot.handed_out.notify"), exit("end")],
        [`ask ${act}`]: [answered(yes, told)],
      });
      expect(outcome.status).toBe("SUCCEEDED");
    },
  );

  test("when nobody resolves the doubt in time", async () => {
    const script = {
      [plan]: [exit("refund")],
      [act]: [fail("surefoot.unknown.refund")],
      [`ask ${act}`]: [answered(never)],
      settle: [settled],
    };
    expect((await run(script)).error).toBe("surefoot.run_stopped");
  });

  test("when an approval no longer holds at dispatch and the run is sent back", async () => {
    const outcome = await run({
      [plan]: [exit("wait!"), exit("wait!")],
      [`ask ${plan}`]: [answered(yes), answered(yes)],
      [act]: [fail("surefoot.sent_back.refund"), exit("end")],
    });
    expect(outcome.status).toBe("SUCCEEDED");
  });

  test("when a function hangs once, and when it hangs again", async () => {
    expect((await run({ [plan]: [hang, exit("refund")], [act]: [exit("end")] })).status).toBe("SUCCEEDED");
    expect((await run({ [plan]: [hang, hang], settle: [settled] })).error).toBe("surefoot.run_stopped");
  });

  test("when the wait function fails, passingly and for good", async () => {
    const passing = [fail("Lambda.Unknown"), fail("Runtime.ExitError"), fail("Sandbox.Timedout"), answered(yes)];
    const passed = await run({ [plan]: [exit("wait!")], [`ask ${plan}`]: passing, [act]: [exit("end")] });
    expect(passed.status).toBe("SUCCEEDED");
    expect(passed.pauses).toEqual({ "Wait for review": [0.5, 1, 1] });
    const broken = await run({ [plan]: [exit("wait!")], [`ask ${plan}`]: [fail("TypeError")], settle: [settled] });
    expect(broken.error).toBe("surefoot.run_stopped");
  });

  test.each([
    ["in a line", { [plan]: [fail("surefoot.stale")] }],
    ["while it waits", { [plan]: [exit("wait!")], [`ask ${plan}`]: [answered(no("surefoot.stale"))] }],
    ["when it settles", { [plan]: [fail("surefoot.final.plan")], settle: [fail("surefoot.stale")] }],
  ])("when a stale execution learns so %s and stops quietly", async (_title, script) => {
    expect((await run(script)).status).toBe("SUCCEEDED");
  });

  test("when even the settling fails", async () => {
    const outcome = await run({ [plan]: [fail("surefoot.final.plan")], settle: [fail("TypeError")] });
    expect(outcome.error).toBe("TypeError");
  });

  test("when a line names a route that the states do not have", async () => {
    expect((await run({ [plan]: [exit("nowhere")], settle: [settled] })).error).toBe("surefoot.run_stopped");
  });

  test.each(["order", "review", "refund", "finalize"])("when a run is resumed at %s", async (node) => {
    const script = { [plan]: [exit("refund")], [act]: [exit("end")] };
    expect((await run(script, node)).status).toBe("SUCCEEDED");
  });

  test("when a run is resumed at a node of another version", async () => {
    expect((await run({ settle: [settled] }, "gone")).error).toBe("surefoot.run_stopped");
  });
});

describeWithMoto("small agents' states come to the same in both interpreters", (start) => {
  const both = useInterpreters(start);
  const world = emptyWorld();
  const routed = compileAgent(routedAgent(world)).definition;
  const approvalFirst = compileAgent(approvalFirstAgent(world)).definition;
  const input = (node: string) => ({ run_id: "r-1", position: `0000.${node}`, next: node });

  test.each([
    ["straight to the write", [exit("refund")], []],
    ["through a review", [exit("review")], [exit("wait!")]],
  ])("when a route leads %s", async (_title, first, review) => {
    const script = {
      "order+size": first,
      review,
      "ask review": [answered(yes)],
      refund: [exit("end")],
    };
    expect((await both().agree({ definition: routed, input: input("order"), script })).status).toBe("SUCCEEDED");
  });

  test("when a rejection ends the run", async () => {
    const script = {
      review: [exit("wait!"), exit("end")],
      "ask review": [answered(no("surefoot.rejected"))],
    };
    expect((await both().agree({ definition: approvalFirst, input: input("review"), script })).status).toBe(
      "SUCCEEDED",
    );
  });

  test("when a decision no longer holds and the write's own line closes the run", async () => {
    const script = {
      review: [exit("wait!")],
      "ask review": [answered(yes)],
      refund: [exit("end")],
    };
    expect((await both().agree({ definition: approvalFirst, input: input("review"), script })).status).toBe(
      "SUCCEEDED",
    );
  });
});
