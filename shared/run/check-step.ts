import { type Agent, findNode } from "../agent/agent.ts";
import type { AgentNode } from "../agent/node.ts";
import { fingerprintOf } from "../contract/manifest.ts";
import { ReplayContractError } from "../faults/faults.ts";
import { sinceAdoption } from "../runlog/adoption.ts";
import { nodeAt } from "../runlog/position.ts";
import type { Step } from "../runlog/step.ts";

/**
 * Looks at everything that this version relies on: what was recorded since it, or one before it, took the run over.
 * @throws ReplayContractError that names the first record which is not its own. Nothing may run then.
 */
export function checkSteps(steps: readonly Step[], agent: Agent): void {
  const { adoption, own } = sinceAdoption(steps);
  if (adoption && adoption.workflow_version > agent.version) {
    const problem = `version ${adoption.workflow_version} took it over there, this is ${agent.version}`;
    throw new ReplayContractError(adoption.run_id, adoption.position, problem, { node: adoption.node });
  }
  for (const step of own) checkStep(step, findNode(agent, step.node));
}

/** @throws ReplayContractError when a record was not made by this node: other name, kind or fingerprint. Nothing may run then. */
export function checkStep(step: Step, node: AgentNode | undefined): void {
  const refuse = (problem: string): never => {
    throw new ReplayContractError(step.run_id, step.position, problem, { node: step.node });
  };
  // A record that lies at another node's position is that node's result nowhere.
  if (nodeAt(step.position) !== step.node) return refuse(`the log has the result of "${step.node}" there`);
  if (!node) return refuse(`the log has node "${step.node}", which this version does not`);
  if (step.kind !== node.kind)
    return refuse(`the log has "${step.node}" as ${step.kind}, this version as ${node.kind}`);
  const fingerprint = fingerprintOf(node);
  if (step.fingerprint !== fingerprint) {
    return refuse(`"${step.node}" was recorded by another definition of it (${step.fingerprint}, now ${fingerprint})`);
  }
}
