import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileAgent } from "../../../shared/index.ts";
import { soundAgents } from "./random-agent.ts";
import { brokenRules, followersOf, problemsOf, validatorProblems } from "./state-machine-checks.ts";
import { wrongTurns } from "./walk-states.ts";

describe("any agent that can be defined", () => {
  it("compiles to states that the language service and the local engine accept", async () => {
    await fc.assert(
      fc.asyncProperty(soundAgents, async (agent) => {
        expect(await problemsOf(compileAgent(agent).definition)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it("compiles to states that asl-validator accepts", () => {
    fc.assert(
      fc.property(fc.array(soundAgents, { minLength: 40, maxLength: 40 }), (agents) => {
        expect(validatorProblems(agents.map((agent) => compileAgent(agent).definition))).toEqual([]);
      }),
      // Shrinking would judge hundreds of batches; the number in the message names the agent.
      { numRuns: 1, endOnFailure: true },
    );
  });

  it("keeps every rule of timeouts, retries and payloads", () => {
    fc.assert(
      fc.property(soundAgents, (agent) => {
        expect(brokenRules(compileAgent(agent).definition)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it("has each node on exactly one line, and every node entered from the start", () => {
    fc.assert(
      fc.property(soundAgents, (agent) => {
        const { definition, lines } = compileAgent(agent);
        const names = agent.nodes.map((node) => node.name);
        expect(lines.flatMap((line) => line.nodes).sort()).toEqual([...names].sort());
        const start = definition.States["Start"];
        const entries =
          start?.Type === "Choice" ? start.Choices.map((choice) => [choice.StringEquals, choice.Next]) : [];
        const undone = agent.nodes.some((node) => node.kind === "write" && node.compensate);
        expect(entries).toEqual([
          ...names.map((name) => [name, lines.find((line) => line.nodes.includes(name))?.name]),
          ...(undone ? [["compensate!", "Compensate operations"]] : []),
          ["take_over!", "Take over run"],
          ["end", "Done"],
        ]);
      }),
      { numRuns: 300 },
    );
  });

  it("has states whose names fit into 80 characters, and no transition that leads nowhere", () => {
    fc.assert(
      fc.property(soundAgents, (agent) => {
        const { States } = compileAgent(agent).definition;
        for (const [name, state] of Object.entries(States)) {
          expect(name.length).toBeLessThanOrEqual(80);
          for (const follower of followersOf(state)) expect(Object.keys(States)).toContain(follower);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("finds on every way, answers, expiries, doubts and stale decisions included, a state that can go on", () => {
    fc.assert(
      fc.property(soundAgents, (agent) => {
        expect(wrongTurns(agent, compileAgent(agent))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it("never sends a rejection where only an approval leads", () => {
    fc.assert(
      fc.property(soundAgents, (agent) => {
        const { definition, lines } = compileAgent(agent);
        const lineOf = (node: string) => lines.find((line) => line.nodes.includes(node))?.name;
        for (const node of agent.nodes) {
          if (node.kind !== "approval") continue;
          const wait = definition.States[`Wait for ${node.name}`];
          if (wait?.Type !== "Task") throw new Error(`expected a Task that waits for ${node.name}`);
          const own = lineOf(node.name);
          const lineFor = (target: string) => (target === "end" ? own : lineOf(target));
          const rejected = wait.Catch?.find((catcher) => catcher.ErrorEquals.includes("surefoot.rejected"))?.Next;
          expect(rejected).toBe(lineFor(node.onReject));
          if (lineFor(node.onReject) !== lineFor(node.next)) expect(rejected).not.toBe(wait.Next);
        }
      }),
      { numRuns: 300 },
    );
  });
});
