import type { AgentNode } from "../agent/node.ts";
import { fingerprintOf } from "../contract/manifest.ts";
import { ReplayContractError } from "../faults/faults.ts";
import { nodeAt } from "../runlog/position.ts";
import type { Step } from "../runlog/step.ts";

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
