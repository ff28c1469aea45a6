import fc from "fast-check";
import { z } from "zod";
import { checkAgent } from "../../../shared/agent/check-agent.ts";
import type { AgentNode } from "../../../shared/agent/node.ts";
import { anyone } from "../../../shared/approval/approver-rule.ts";
import { type Agent, AgentDefinitionError, days, none, readTool, writeTool } from "../../../shared/index.ts";
import { prompt } from "../../builders/agents.ts";

const output = z.object({ n: z.number() });
const lookup = readTool("lookup", { version: 1, input: output, output, execute: async () => ({ n: 1 }) });
const store = (attempts: number) =>
  writeTool("store", {
    version: 1,
    risk: "low",
    input: output,
    output,
    downstream: none(),
    semanticFields: ["n"],
    attempts,
    execute: async () => ({ n: 1 }),
  });

/** Names of every length, and those that the compiler uses for states of its own. */
const nodeNames = fc.uniqueArray(
  fc.oneof(
    { weight: 4, arbitrary: fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,5}$/) },
    { weight: 2, arbitrary: fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{39}$/) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("Start", "Done", "Failed", "later", "stale", "wait", "toString", "constructor"),
    },
  ),
  { minLength: 1, maxLength: 9 },
);

interface Shape {
  readonly kind: AgentNode["kind"];
  /** Index of the target, or of the end; undefined follows the order of definition. */
  readonly then: number | undefined;
  readonly targets: readonly number[];
  readonly conditional: boolean;
  readonly attempts: number;
}

const shape: fc.Arbitrary<Shape> = fc.record({
  kind: fc.constantFrom("model", "read", "write", "approval", "approval", "compute", "route"),
  then: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat(9) }),
  targets: fc.array(fc.nat(9), { minLength: 3, maxLength: 4 }),
  conditional: fc.boolean(),
  attempts: fc.integer({ min: 1, max: 4 }),
});

function agentOf(names: readonly string[], shapes: readonly Shape[]): Agent {
  // An approval needs a write: where there is none, it is a compute.
  const writes = names.filter((_name, index) => shapes[index]?.kind === "write");
  const nameAt = (index: number) => names[index % (names.length + 1)] ?? "end";
  const nodes = names.map((name, index): AgentNode => {
    const { kind, then, targets, conditional, attempts } = shapes[index]!;
    const base = { name, next: then === undefined ? (names[index + 1] ?? "end") : nameAt(then) };
    const [first = 0, second = 0, third = 0, fourth = 0] = targets;
    switch (kind) {
      case "model":
        return {
          ...base,
          kind,
          prompt: prompt(name),
          output,
          model: "default",
          attemptsMax: attempts,
          timeoutMs: 60_000,
          outputTokensMax: 10,
        };
      case "read":
        return { ...base, kind, tool: lookup as never, request: () => ({ n: 1 }) };
      case "write":
        return {
          ...base,
          kind,
          tool: store(attempts) as never,
          request: () => ({ n: 1 }),
          businessKey: undefined,
          precondition: undefined,
          compensate: attempts === 2 ? { tool: store(1) as never, request: () => ({ n: 1 }) } : undefined,
        };
      case "approval":
        if (writes.length === 0) return { ...base, kind: "compute", output, run: () => ({ n: 1 }) };
        return {
          ...base,
          kind,
          of: writes[first % writes.length]!,
          when: conditional ? () => true : undefined,
          show: () => ({
            title: "t",
            fields: [{ type: "text", label: "l", text: "t" }],
            on_approve: "a",
            on_reject: "r",
          }),
          validForMs: days(1),
          snapshot: attempts === 3 ? () => 1 : undefined,
          approvers: anyone,
          autoApprove: attempts === 1 ? { when: () => true, policy: "small" } : undefined,
          onReject: nameAt(first),
          onExpire: nameAt(second),
          onStale: nameAt(third),
          onStaleFor: attempts === 2 ? { expired: nameAt(fourth), snapshot_changed: nameAt(first) } : {},
        };
      case "compute":
        return { ...base, kind, output, run: () => ({ n: 1 }) };
      case "route":
        return { ...base, next: "end", kind, to: targets.map(nameAt), choose: () => "end" };
      default:
        return kind satisfies never;
    }
  });
  return { name: "random-agent", version: 1, input: output, nodes, stepsMax: 200 };
}

function isSound(agent: Agent): boolean {
  try {
    checkAgent(agent);
    return true;
  } catch (error) {
    if (error instanceof AgentDefinitionError) return false;
    throw error;
  }
}

/** Agents that the builder would accept: chains with routes, back-edges, jumps and approvals of all sorts. */
export const soundAgents: fc.Arbitrary<Agent> = nodeNames
  .chain((names) =>
    fc.array(shape, { minLength: names.length, maxLength: names.length }).map((shapes) => agentOf(names, shapes)),
  )
  .filter(isSound);
