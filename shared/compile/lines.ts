import type { Agent } from "../agent/agent.ts";
import { compensableNodes } from "../agent/compensation.ts";
import { type AgentNode, successorsOf } from "../agent/node.ts";
import { sha256Hex } from "../operation/canonical-json.ts";
import { END } from "../runlog/step.ts";
import { sentBackTargets } from "./sent-back.ts";

/**
 * A straight line of nodes that one Task runs: everything up to the next wait or branch. An approval stands at the end of its line: the
 * line asks, and a state of its own waits.
 */
export interface Line {
  /** Name of its Task state: its nodes, readable in the console. */
  readonly name: string;
  readonly nodes: readonly string[];
}

/** Step Functions' limit on a state name, less room for the suffixes of the states beside a line. */
const lineNameCharsMax = 60;

/** Splits an agent into lines. Every node belongs to exactly one; a line may be entered at any of its nodes. */
export function linesOf(agent: Agent): readonly Line[] {
  const byName = new Map(agent.nodes.map((node) => [node.name, node]));
  const taken = new Set<string>();
  const lines: Line[] = [];
  for (const head of agent.nodes) {
    if (taken.has(head.name)) continue;
    const nodes: string[] = [];
    let node: AgentNode | undefined = head;
    while (node && !taken.has(node.name)) {
      taken.add(node.name);
      nodes.push(node.name);
      node = endsLine(node) ? undefined : byName.get(node.next);
    }
    lines.push({ name: lineName(nodes), nodes });
  }
  return lines;
}

const endsLine = (node: AgentNode): boolean => node.kind === "approval" || node.kind === "route" || node.next === END;

/** States beside the lines whose names a node could have. */
const takenStateNames = new Set(["Start", "Done", "Failed"]);

function lineName(nodes: readonly string[]): string {
  const full = nodes.join("+");
  if (takenStateNames.has(full)) return `Line ${full}`;
  if (full.length <= lineNameCharsMax) return full;
  return `${full.slice(0, lineNameCharsMax - 9)}~${sha256Hex(full).slice(0, 8)}`;
}

/** Nodes outside the line that it can come to, `end` included. The approval at its own end counts as `wait`. */
export function exitsOf(agent: Agent, line: Line): readonly string[] {
  const inLine = new Set(line.nodes);
  const exits = new Set<string>();
  for (const name of line.nodes) {
    const node = agent.nodes.find((candidate) => candidate.name === name);
    if (!node) continue;
    for (const target of targetsOf(agent, node)) if (!inLine.has(target)) exits.add(target);
  }
  return [...exits];
}

/**
 * Once asked, an approval's answers leave its wait state, not the line; not required, it goes straight on. An answer that ends the run
 * comes back into the line, which closes the run, and so does a dispatch that is sent back to the end. A run that is turned down there is
 * compensated where it can be.
 */
function targetsOf(agent: Agent, node: AgentNode): readonly string[] {
  const compensates = compensableNodes(agent).length > 0;
  switch (node.kind) {
    case "approval": {
      const ends = [node.next, node.onReject, node.onExpire].includes(END);
      const turnedDown = [node.onReject, node.onExpire].includes(END);
      return [
        ...(node.when || node.autoApprove ? [node.next] : []),
        WAIT,
        ...(ends ? [END] : []),
        ...(turnedDown && compensates ? [COMPENSATE] : []),
      ];
    }
    case "write": {
      const sentToEnd = sentBackTargets(agent, node.name).includes(END);
      return [node.next, ...(sentToEnd ? [END] : []), ...(sentToEnd && compensates ? [COMPENSATE] : [])];
    }
    case "model":
    case "read":
    case "compute":
    case "route":
      return successorsOf(node);
    default:
      return node satisfies never;
  }
}

/** What a line returns as `next` when it asked and now waits. No node can have this name. */
export const WAIT = "wait!";

/**
 * The line that undoes what a run has done, as its Task is told, and what another line returns as `next` when the run ends there. It has no
 * nodes of the definition; no node can have this name.
 */
export const COMPENSATE = "compensate!";

/** What that line returns as `next` when the run it compensated has failed: its execution fails too. */
export const FAILED = "failed!";

/**
 * Where an execution enters that first has its version take the run over: a version that the run did not start on, or one that shall look
 * once more. It has no nodes; no node can have this name.
 */
export const TAKE_OVER = "take_over!";

export const lineOf = (lines: readonly Line[], node: string): Line | undefined =>
  lines.find((line) => line.nodes.includes(node));
