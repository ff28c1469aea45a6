import { AgentDefinitionError } from "../faults/faults.ts";
import { migrationProblem } from "../contract/migration.ts";
import { ordinalMax } from "../runlog/position.ts";
import { END } from "../runlog/step.ts";
import type { Agent } from "./agent.ts";
import { checkNode } from "./check-node.ts";
import { checkSchema } from "./check-schema.ts";
import { type AgentNode, staleTargets, successorsOf } from "./node.ts";

/** Names become parts of state names (80 characters in Step Functions), error names and URLs. */
const agentName = /^[a-z][a-z0-9-]{0,39}$/u;
const nodeName = /^[A-Za-z][A-Za-z0-9_-]{0,39}$/u;
const reservedNames = ["input", "rejection", END];

/** Checks a definition as a whole. @throws AgentDefinitionError that names the node and says what to change. */
export function checkAgent(agent: Agent): void {
  const wrong = (problem: string, node?: string): never => {
    throw new AgentDefinitionError(agent.name, problem, node === undefined ? {} : { node });
  };
  if (!agentName.test(agent.name))
    wrong("the name must be a-z, 0-9 and -, start with a letter, and have at most 40 characters");
  if (!Number.isInteger(agent.version) || agent.version < 1)
    wrong(`version must be a whole number from 1, found ${agent.version}`);
  if (!Number.isInteger(agent.stepsMax) || agent.stepsMax < 1 || agent.stepsMax > ordinalMax)
    wrong(`stepsMax must be a whole number from 1 to ${ordinalMax}, found ${agent.stepsMax}`);
  if (agent.nodes.length === 0) wrong("it has no nodes: add at least one before .end()");
  const badMigration = migrationProblem(agent.migrations ?? [], agent.version);
  if (badMigration !== undefined) wrong(badMigration);
  checkSchema(agent.input, (problem) => wrong(`input schema: ${problem}`));

  const names = new Set<string>();
  for (const node of agent.nodes) {
    if (!nodeName.test(node.name))
      wrong(
        `node "${node.name}": a name is letters, digits, _ and -, starts with a letter, at most 40 characters`,
        node.name,
      );
    if (reservedNames.includes(node.name)) wrong(`node "${node.name}": the name is reserved`, node.name);
    if (names.has(node.name)) wrong(`node "${node.name}" is defined twice`, node.name);
    names.add(node.name);
  }
  for (const node of agent.nodes) {
    const targets = node.kind === "approval" ? [...successorsOf(node), ...staleTargets(node)] : successorsOf(node);
    for (const target of targets) {
      if (target !== END && !names.has(target))
        wrong(`node "${node.name}" leads to "${target}", which does not exist`, node.name);
    }
    checkNode(agent, node, (problem) => wrong(`node "${node.name}": ${problem}`, node.name));
  }
  checkReach(agent, wrong);
}

function checkReach(agent: Agent, wrong: (problem: string, node?: string) => never): void {
  const next = new Map(agent.nodes.map((node) => [node.name, edgesOf(node)]));
  const reached = spread([agent.nodes[0]?.name ?? END], (name) => next.get(name) ?? []);
  const unreachable = agent.nodes.find((node) => !reached.has(node.name));
  if (unreachable) wrong(`node "${unreachable.name}" cannot be reached: nothing leads to it`, unreachable.name);

  const before = (target: string) =>
    agent.nodes.filter((node) => edgesOf(node).includes(target)).map((node) => node.name);
  const ending = spread([END], before);
  const trapped = agent.nodes.find((node) => !ending.has(node.name));
  if (trapped) wrong(`node "${trapped.name}" never comes to an end: give the cycle a way out`, trapped.name);
}

const edgesOf = (node: AgentNode): readonly string[] =>
  node.kind === "approval" ? [...successorsOf(node), ...staleTargets(node)] : successorsOf(node);

function spread(from: readonly string[], edges: (name: string) => readonly string[]): ReadonlySet<string> {
  const seen = new Set(from);
  const open = [...from];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const target of edges(name)) {
      if (seen.has(target)) continue;
      seen.add(target);
      open.push(target);
    }
  }
  return seen;
}
