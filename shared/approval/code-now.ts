import type { Agent } from "../agent/agent.ts";
import type { State } from "../agent/node.ts";
import type { RunRecord } from "../runlog/run-record.ts";
import type { CodeNow } from "./check-approval.ts";

/** The versions that a decision on this state is bound to. A prompt counts once its model has answered: later ones led to nothing yet. */
export const codeNow = (agent: Agent, state: State, run: Pick<RunRecord, "compatible_with">): CodeNow => ({
  workflow_version: agent.version,
  prompt_versions: Object.fromEntries(
    agent.nodes.flatMap((node) =>
      node.kind === "model" && Object.hasOwn(state, node.name)
        ? [[node.name, `${node.prompt.name}@${node.prompt.release}`]]
        : [],
    ),
  ),
  compatible_with: run.compatible_with ?? [],
});
