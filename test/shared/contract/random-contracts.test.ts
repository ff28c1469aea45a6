import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { findNode } from "../../../shared/agent/agent.ts";
import type { AgentNode } from "../../../shared/agent/node.ts";
import { compareAt } from "../../../shared/contract/compare-at.ts";
import { compareContracts } from "../../../shared/contract/compare-contracts.ts";
import { targetsOf } from "../../../shared/contract/contract-graph.ts";
import { fingerprintOf, type Manifest, manifestOf } from "../../../shared/contract/manifest.ts";
import { type FootholdHistory, footholdOf } from "../../../shared/contract/foothold.ts";
import type { Agent } from "../../../shared/index.ts";
import { checkStep } from "../../../shared/run/check-step.ts";
import { Position, positionAt } from "../../../shared/runlog/position.ts";
import type { Step } from "../../../shared/runlog/step.ts";
import { soundAgents } from "../compile/random-agent.ts";

type Steps = FootholdHistory["steps"];

/** One change to one node, or none. `seed` says which. */
function changed(agent: Agent, how: string, seed: number): Agent {
  const at = seed % agent.nodes.length;
  const target = [...agent.nodes.map(({ name }) => name), "end"][seed % (agent.nodes.length + 1)] ?? "end";
  const added: AgentNode = { kind: "compute", name: "added", next: target, output: z.null(), run: () => null };
  const node = agent.nodes[at];
  if (!node) return agent;
  const nodes = agent.nodes.map((other): AgentNode => (other === node ? change(node) : other));
  function change(own: AgentNode): AgentNode {
    switch (how) {
      case "kind":
        return { kind: "compute", name: own.name, next: own.next, output: z.null(), run: () => null };
      case "next":
        return own.kind === "route" ? { ...own, to: [target] } : { ...own, next: target };
      case "insert":
        return own.kind === "route" ? { ...own, to: ["added"] } : { ...own, next: "added" };
      case "output":
        return own.kind === "model" || own.kind === "compute" ? { ...own, output: z.object({ m: z.string() }) } : own;
      default:
        return own;
    }
  }
  if (how === "remove" && agent.nodes.length > 1)
    return { ...agent, nodes: agent.nodes.filter((other) => other !== node) };
  return { ...agent, nodes: how === "insert" ? [...nodes, added] : nodes };
}

/** A way that a run may have gone, of at most `choices` steps. */
function walk(agent: Agent, manifest: Manifest, choices: readonly number[]): Steps {
  const steps: Steps[number][] = [];
  let at = manifest.entry;
  for (const choice of choices) {
    const node = findNode(agent, at);
    const targets = targetsOf(manifest, at);
    const next = targets[choice % targets.length];
    if (!node || next === undefined) break;
    const position = positionAt(steps.length, at);
    steps.push({ position, node: at, kind: node.kind, fingerprint: fingerprintOf(node), next });
    at = next;
  }
  return steps;
}

const place = (manifest: Manifest, steps: Steps, asks: boolean) => {
  const next = steps.at(-1)?.next ?? manifest.entry;
  const answers = manifest.nodes.find(({ name }) => name === next)?.answers;
  const position = next === "end" ? "end" : positionAt(steps.length, next);
  const routes = answers && { approved: answers.approved, rejected: answers.rejected, expired: answers.expired };
  const waiters = asks && routes ? [{ position, node: next, kind: "approval", status: "OPEN", routes }] : [];
  return footholdOf({ run: { entry: manifest.entry }, steps, waiters }, [], undefined);
};

const changes = fc.constantFrom("nothing", "kind", "next", "insert", "output", "remove");
const cases = fc.record({
  agent: soundAgents,
  how: changes,
  seed: fc.nat(1_000),
  choices: fc.array(fc.nat(5), { maxLength: 12 }),
  asks: fc.boolean(),
});

describe("for any agent, any change and any run", () => {
  it("compatible means that every record fits, and that the way is one that the code could have led", () => {
    fc.assert(
      fc.property(cases, ({ agent, how, seed, choices, asks }) => {
        const [recorded, now] = [manifestOf(agent), changed(agent, how, seed)];
        const current = manifestOf(now);
        const steps = walk(agent, recorded, choices);
        const foothold = place(recorded, steps, asks);
        const { verdict, goesOnAt } = compareAt(recorded, current, foothold);
        expect(verdict === "incompatible").toBe(goesOnAt === undefined);
        if (verdict !== "same" && verdict !== "compatible") return;
        for (const step of steps) {
          const record = { ...step, run_id: "run-1", position: Position.parse(step.position) } as unknown as Step;
          checkStep(record, findNode(now, step.node));
        }
        for (const { from, to } of foothold.edges.slice(1)) {
          if (to !== "end") expect(targetsOf(current, from)).toContain(to);
        }
      }),
      { numRuns: 600 },
    );
  });

  it("a change that hurts nobody by the releases' comparison hurts no run wherever it stands", () => {
    let compatible = 0;
    fc.assert(
      fc.property(cases, ({ agent, how, seed, choices, asks }) => {
        const [recorded, current] = [manifestOf(agent), manifestOf(changed(agent, how, seed))];
        const { verdict } = compareContracts(recorded, current);
        if (verdict !== "compatible") return;
        compatible++;
        const at = compareAt(recorded, current, place(recorded, walk(agent, recorded, choices), asks));
        expect(at).toMatchObject({ verdict: "compatible", hurts: [] });
      }),
      { numRuns: 600 },
    );
    expect(compatible).toBeGreaterThan(5);
  });

  it("nothing changed is the same, wherever a run stands", () => {
    fc.assert(
      fc.property(cases, ({ agent, choices, asks }) => {
        const manifest = manifestOf(agent);
        expect(compareContracts(manifest, manifestOf({ ...agent }))).toMatchObject({ verdict: "same", nodes: [] });
        const at = compareAt(manifest, manifest, place(manifest, walk(agent, manifest, choices), asks));
        expect(at.verdict).toBe("same");
      }),
      { numRuns: 100 },
    );
  });

  it("an unchanged definition under a raised version hurts no run that has nothing in flight", () => {
    fc.assert(
      fc.property(cases, ({ agent, choices, asks }) => {
        const [recorded, current] = [manifestOf(agent), manifestOf({ ...agent, version: 2 })];
        const at = compareAt(recorded, current, place(recorded, walk(agent, recorded, choices), asks));
        expect(at).toMatchObject({ verdict: "compatible", hurts: [] });
      }),
      { numRuns: 200 },
    );
  });
});
