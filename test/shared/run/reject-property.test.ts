import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { checkAgent } from "../../../shared/agent/check-agent.ts";
import { nodeOf } from "../../../shared/agent/agent.ts";
import type { AgentNode, ApprovalNode } from "../../../shared/agent/node.ts";
import { ApprovalOutcome } from "../../../shared/approval/approval.ts";
import { anyone } from "../../../shared/approval/approver-rule.ts";
import { type Agent, AgentDefinitionError, days } from "../../../shared/index.ts";
import { ordinalOf } from "../../../shared/runlog/position.ts";
import type { Step } from "../../../shared/runlog/step.ts";
import { localTables } from "../../builders/local-tables.ts";
import { type AgentParts, Ticket } from "../../builders/order-agent.ts";
import { runWorld } from "../../builders/run-world.ts";

/** One stage of a small agent: an approval, the write it guards, and where a no leads. */
interface Stage {
  /** Index into the nodes of the whole agent, modulo; the end included. */
  readonly onReject: number;
  /** Whether a computation stands between the approval and its write. */
  readonly between: boolean;
}
interface Word {
  readonly word: "approved" | "rejected";
  /** Somebody says the opposite at the same time. */
  readonly contested: boolean;
  /** The process that goes on dies once, right after it has recorded something. */
  readonly dies: boolean;
}

const output = z.object({ n: z.number() });

function agentOf(stages: readonly Stage[], { placeOrder }: AgentParts): Agent {
  const names = stages.flatMap((stage, n) => [`ask${n}`, ...(stage.between ? [`think${n}`] : []), `do${n}`]);
  const all = [...names, "say_no", "end"];
  const nodes = stages.flatMap((stage, n): AgentNode[] => {
    const first = stage.between ? `think${n}` : `do${n}`;
    const after = n + 1 < stages.length ? `ask${n + 1}` : "end";
    const onReject = all[stage.onReject % all.length] ?? "end";
    return [
      {
        kind: "approval",
        name: `ask${n}`,
        next: first,
        of: `do${n}`,
        when: undefined,
        show: () => ({
          title: "t",
          fields: [{ type: "text", label: "l", text: "t" }],
          on_approve: "a",
          on_reject: "r",
        }),
        validForMs: days(1),
        snapshot: undefined,
        approvers: anyone,
        autoApprove: undefined,
        onReject,
        onExpire: onReject,
        onStale: onReject,
        onStaleFor: {},
      },
      ...(stage.between
        ? [{ kind: "compute" as const, name: first, next: `do${n}`, output, run: () => ({ n: 1 }) }]
        : []),
      {
        kind: "write",
        name: `do${n}`,
        next: after,
        tool: placeOrder as never,
        request: (state) => ({ order: `${(state["input"] as { order: string }).order}/${n}`, amountCents: n + 1 }),
        businessKey: undefined,
        precondition: undefined,
        compensate: undefined,
      },
    ];
  });
  const sayNo: AgentNode = { kind: "compute", name: "say_no", next: "end", output, run: () => ({ n: 0 }) };
  return { name: "random-agent", version: 1, input: Ticket, nodes: [...nodes, sayNo], stepsMax: 60 };
}

const stages = fc.array(fc.record({ onReject: fc.nat(11), between: fc.boolean() }), { minLength: 1, maxLength: 3 });
const words = fc.array(
  fc.record({
    word: fc.constantFrom("approved" as const, "rejected" as const, "rejected" as const),
    contested: fc.boolean(),
    dies: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
);

const outcomeOf = ({ output: packed }: Step) =>
  ApprovalOutcome.parse(JSON.parse("json" in packed ? packed.json : "")).outcome;

describe("any small agent with approvals", () => {
  const tables = localTables();

  it("never does what was turned down, whatever is said at the same time and whoever dies", async () => {
    let judged = 0;
    await fc.assert(
      fc.asyncProperty(stages, words, async (shape, said) => {
        const world = await runWorld(tables, {
          agent: (parts) => {
            const agent = agentOf(shape, parts);
            return isSound(agent) ? agent : agentOf([{ onReject: 2, between: false }], parts);
          },
        });
        await say(world, said);

        const { steps } = await world.history();
        const answers = steps.filter(({ kind }) => kind === "approval");
        for (const answer of answers) {
          const ask = nodeOf(world.agent, answer.node) as ApprovalNode;
          const following = steps.find(({ position }) => ordinalOf(position) === ordinalOf(answer.position) + 1);
          // One answer, one way: the other branch is not entered.
          expect(answer.next).toBe(outcomeOf(answer) === "approved" ? ask.next : ask.onReject);
          if (following) expect(following.node).toBe(answer.next);
          judged++;
        }
        // What was done was asked for last with a yes, or is led to past its approval by the agent's own edges.
        for (const done of steps.filter(({ kind, outcome }) => kind === "write" && outcome === "done")) {
          const asked = answers.findLast(
            ({ node, position }) => node === done.node.replace("do", "ask") && position < done.position,
          );
          expect(asked ? outcomeOf(asked) : "approved").toBe("approved");
        }
        const keys = world.downstream.effects.map(({ key }) => key);
        expect(new Set(keys).size).toBe(keys.length);
      }),
      { numRuns: 40 },
    );
    expect(judged).toBeGreaterThan(20);
  }, 120_000);

  /** Answers each question that the run comes to, then lets it go on. */
  async function say(world: Awaited<ReturnType<typeof runWorld>>, said: readonly Word[]): Promise<void> {
    for (const { word, contested, dies } of said) {
      if ((await world.drive()) !== "waits") return;
      const other = word === "approved" ? ("rejected" as const) : ("approved" as const);
      await Promise.all([world.answer(word), ...(contested ? [world.answer(other, { by: "lee" })] : [])]);
      const line = world.lines.find(({ nodes }) => nodes.some((node) => node.startsWith("do")));
      if (dies && line) {
        const crash = { line: line.name, at: { when: "after", call: "log.append" } } as const;
        if ((await world.drive({ crash })) !== "waits") return;
      }
    }
  }
});

function isSound(agent: Agent): boolean {
  try {
    checkAgent(agent);
    return true;
  } catch (error) {
    if (error instanceof AgentDefinitionError) return false;
    throw error;
  }
}
