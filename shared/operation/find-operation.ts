import { type Agent, findNode } from "../agent/agent.ts";
import type { WriteNode } from "../agent/node.ts";
import { ReplayContractError } from "../faults/faults.ts";
import type { LedgerEntry } from "../ledger/ledger-entry.ts";
import { nodeAt, Position } from "../runlog/position.ts";

/** The write node whose operation this is. @throws ReplayContractError when this version of the agent has no such node. */
export function writeNodeOf(
  agent: Agent,
  entry: LedgerEntry,
): { readonly node: WriteNode; readonly position: Position } {
  const position = Position.parse(entry.position);
  const node = findNode(agent, nodeAt(position));
  if (node?.kind === "write" && node.tool.name === entry.action_name) return { node, position };
  throw new ReplayContractError(
    entry.run_id,
    entry.position,
    `operation ${entry.operation_id} is ${entry.action_name}, which this version does not do there`,
  );
}
