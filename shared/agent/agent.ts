import type { z } from "zod";
import type { Migration } from "../contract/migration.ts";
import { compensationOf, isCompensable, writeUndoneBy } from "./compensation.ts";
import type { AgentNode } from "./node.ts";

/** A defined agent: what CDK deploys, what runs locally, and what a drill attacks. */
export interface Agent {
  readonly name: string;
  readonly version: number;
  readonly input: z.ZodType;
  /** In order of definition; the first is where a run starts. */
  readonly nodes: readonly AgentNode[];
  /** Steps a run may take before it is parked: a cycle that never leaves is a bug that costs money. */
  readonly stepsMax: number;
  /** How runs of earlier versions go on under this one. Default: they do not; each version ends its own runs. */
  readonly migrations?: readonly Migration[];
}

export const stepsMaxDefault = 200;

/** The node that a record names: one of the definition, or the one that undoes a write of it. */
export function findNode(agent: Agent, name: string): AgentNode | undefined {
  const undone = writeUndoneBy(name);
  const node = agent.nodes.find((candidate) => candidate.name === (undone ?? name));
  if (undone === undefined) return node;
  return node && isCompensable(node) ? compensationOf(node) : undefined;
}

/** @throws RangeError for a name the agent does not have: callers have checked. */
export function nodeOf(agent: Agent, name: string): AgentNode {
  const node = findNode(agent, name);
  if (!node) throw new RangeError(`agent ${agent.name} has no node ${name}`);
  return node;
}

export const firstNode = (agent: Agent): AgentNode => {
  const [first] = agent.nodes;
  if (!first) throw new RangeError(`agent ${agent.name} has no nodes`);
  return first;
};

/** The approvals that guard a write. */
export const approvalsOf = (agent: Agent, write: string) =>
  agent.nodes.filter((node) => node.kind === "approval").filter((node) => node.of === write);
