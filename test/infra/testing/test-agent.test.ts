import { describe, expect, it } from "vitest";
import { z } from "zod";
import { at, double, httpError, testAgent, type TestAgentOptions } from "../../../infra/testing/index.ts";
import {
  byKey,
  byQuery,
  days,
  defineAgent,
  definePrompt,
  hours,
  minutes,
  readTool,
  writeTool,
} from "../../../shared/index.ts";

const Note = z.object({ text: z.string() });
const Sent = z.object({ id: z.string() });
let ownCalls = 0;
const look = readTool("look", {
  version: 1,
  input: Note,
  output: Note,
  execute: async ({ text }) => ({ text: `own ${text}` }),
});
const send = writeTool("send", {
  version: 1,
  risk: "low",
  input: Note,
  output: Sent,
  downstream: byKey({ window: hours(24) }),
  semanticFields: ["text"],
  externalRef: ({ id }) => id,
  execute: async (_note, { idempotencyKey }) => {
    ownCalls++;
    return { id: `sent-${idempotencyKey}` };
  },
});
const agent = defineAgent("notes", { version: 1, input: Note })
  .read("seen", { tool: look, with: ({ input }) => input })
  .model("words", {
    prompt: definePrompt("words", { release: 1, text: "Say it better.", data: (state) => state }),
    output: Note,
  })
  .write("sent", { tool: send, with: ({ words }) => words, precondition: () => "the service is closed" })
  .end();
const preconditions = { sent: () => true as const };
const options: TestAgentOptions = { models: { words: { text: "better" } }, preconditions };
const note = { text: "hello" };

describe("a test that is set up wrongly", () => {
  it("hears of every problem at once, and of what there is", async () => {
    const wrong = testAgent(agent, {
      models: { wrods: {} },
      tools: { sned: double.none({ result: {} }), look: double.none({ result: {} }) },
      preconditions: { words: () => true },
    });
    await expect(wrong).rejects.toThrow(
      expect.objectContaining({
        name: "TestSetupError",
        message: [
          'testAgent("notes"): models.wrods: the agent has no such model node; expected one of words',
          "models has no answer for words: add one each",
          "tools.sned: the agent has no such tool; expected one of look, send",
          "tools.look: it only reads; give a function that answers, not a double",
          "preconditions.words: the agent has no such write node with a precondition; expected one of sent",
        ].join("; "),
      }) as Error,
    );
  });

  it.each([
    [double.none({ result: {} }), "is double.none; use double.key with window: hours(24)"],
    [double.key({ window: hours(1), result: {} }), "remembers a key for 1 h; use double.key with window: hours(24)"],
  ])("hears that a double offers less than its tool declares", async (send, why) => {
    await expect(testAgent(agent, { ...options, tools: { send } })).rejects.toThrow(why);
  });

  it("hears that a double cannot be asked whose tool looks up", async () => {
    const asking = {
      ...send,
      downstream: byQuery<z.infer<typeof Note>, never>({ settle: 0, lookup: async () => "not_found" }),
    };
    const other = defineAgent("notes", { version: 1, input: Note })
      .write("sent", { tool: asking, with: ({ input }) => input })
      .end();
    const given = { tools: { send: double.none({ result: {} }) } };
    await expect(testAgent(other, given)).rejects.toThrow(
      "to answer a lookup, its double is double.none; use double.query",
    );
  });

  it("may want the weaker one, and then sees what it does", async () => {
    const forgets = double.key({
      window: minutes(1),
      result: (_note, { n }) => ({ id: `sent-${n}` }),
      evenIfWeaker: true,
    });
    const world = await testAgent(agent, { ...options, tools: { send: forgets } });
    world.fault(at.tool("send"), "crash_after");
    await (await world.start(note)).untilEnd();
    expect(world.effects("send")).toHaveLength(2);
  });

  it("hears that an instant is none", async () => {
    await expect(testAgent(agent, { ...options, startAt: "noon" })).rejects.toThrow(
      'startAt: expected an instant like 2026-09-02T12:00:00Z, found "noon"',
    );
  });

  it("hears what is wrong with an input, in the API's words", async () => {
    const world = await testAgent(agent, options);
    await expect(world.start({ text: 1 })).rejects.toThrow(
      /^the run was not started \(400\): the input does not fit agent notes: input\.text/u,
    );
  });
});

describe("a run that does not end by itself", () => {
  it("says for whom it waits", async () => {
    const asked = defineAgent("asked", { version: 1, input: Note })
      .approval("review", {
        of: "sent",
        show: ({ input }) => ({
          title: "Send it",
          fields: [{ type: "text", label: "Text", text: input.text }],
          on_approve: "It is sent.",
          on_reject: "It is not.",
        }),
        validFor: days(7),
        onReject: "end",
      })
      .write("sent", { tool: send, with: ({ input }) => input })
      .end();
    const run = await (await testAgent(asked)).start(note);
    await expect(run.untilEnd()).rejects.toThrow(
      `run ${run.id} does not end by itself: it waits for a person at "review": run.approve("review"), run.reject("review"), or world.skip(…) past 2026-09-09T12:00:00.000Z`,
    );
    await expect(run.untilWaiting("sent")).rejects.toThrow(
      'does not come to wait at sent: it waits for a person at "review"',
    );
  });

  it("says why it is parked, and goes on once the cause is mended", async () => {
    let closed = true;
    const sent = () => (closed ? Promise.reject(httpError(503)) : (true as const));
    const world = await testAgent(agent, { ...options, preconditions: { sent } });
    const run = await world.start(note);
    await expect(run.untilEnd()).rejects.toThrow(
      /it is PARKED at "sent": .*503 \(mend the cause, then run\.resume\(\)\)/u,
    );

    closed = false;
    await run.resume();
    expect(await run.untilEnd()).toMatchObject({ status: "SUCCEEDED" });
  });

  it("that ended otherwise says how", async () => {
    const run = await (await testAgent(agent, { models: options.models ?? {} })).start(note);
    expect(await run.untilEnd()).toMatchObject({ status: "FAILED", outcome: "failed" });
    await expect(run.untilParked()).rejects.toThrow("it is FAILED (failed); world.trace() says what happened last");
  });
});

describe("a world", () => {
  it("runs a tool's own code where nothing takes its place, and counts what it answered", async () => {
    ownCalls = 0;
    const world = await testAgent(agent, options);
    world.fault(at.tool("send"), "lost_ack");
    const { state } = await (await world.start(note)).untilEnd();
    expect(state["seen"]).toEqual({ text: "own hello" });
    expect(ownCalls).toBe(2);
    // Two answers with one reference are one effect.
    expect(world.effects("send")).toHaveLength(1);
  });

  it("has models asked again for an answer that does not fit", async () => {
    const words = ({ nth }: { readonly nth: number }) => (nth === 1 ? { txet: "typo" } : { text: "better" });
    const world = await testAgent(agent, { ...options, models: { words } });
    await (await world.start(note)).untilEnd();
    expect(world.asked("words").map(({ nth, data }) => [nth, data])).toEqual([
      [1, { input: note, seen: { text: "own hello" } }],
      [2, { input: note, seen: { text: "own hello" } }],
    ]);
  });

  it("returns the open run of a workflow, and a new one only where that is wanted", async () => {
    const world = await testAgent(agent, options);
    const first = await world.start(note, { workflowId: "task-9" });
    expect((await world.start(note, { workflowId: "task-9" })).id).toBe(first.id);
    await first.untilEnd();
    const next = await world.start(note, { workflowId: "task-9", allowNewRun: true });
    expect(next.id).not.toBe(first.id);
  });

  it("begins when it is told to, and has a clock of its own", async () => {
    const world = await testAgent(agent, { ...options, startAt: "2030-01-01T00:00:00Z" });
    await world.skip(hours(2));
    expect(world.now).toBe("2030-01-01T02:00:00.000Z");
  });

  it("knows nothing of another world", async () => {
    const [one, other] = [await testAgent(agent, options), await testAgent(agent, options)];
    const run = await one.start(note);
    await run.untilEnd();
    expect([one.effects().length, other.effects().length]).toEqual([1, 0]);
    // The first run of each has the same id, and is another's.
    const same = await other.start(note);
    expect(same.id).toBe(run.id);
    expect((await same.record()).status).toBe("RUNNING");
  });

  it("cancels a run by the API's code", async () => {
    const world = await testAgent(agent, options);
    const run = await world.start(note);
    await run.cancel();
    await world.runUntilIdle();
    expect((await run.record()).status).toBe("CANCELLED");
    expect(world.effects()).toEqual([]);
    await expect(run.resume()).rejects.toThrow(/answered 409: run .* has ended: CANCELLED/u);
  });
});
