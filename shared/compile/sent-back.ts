import { type Agent, approvalsOf } from "../agent/agent.ts";
import { staleTargets } from "../agent/node.ts";
import { wireError } from "./wire-errors.ts";

/** Every place where a stale decision on a write may lead, whichever of its approvals it was. */
export const sentBackTargets = (agent: Agent, write: string): readonly string[] => [
  ...new Set(approvalsOf(agent, write).flatMap(staleTargets)),
];

/** The error by which the state machine goes there: a name of its own for each target, the plain one where its first approval leads. */
export function sentBackError(agent: Agent, write: string, target: string): string {
  const [guard] = approvalsOf(agent, write);
  return guard?.onStale === target ? wireError.sentBack(write) : wireError.sentBackTo(write, target);
}
