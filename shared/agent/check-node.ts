import type { Agent } from "./agent.ts";
import { checkApprovers } from "./check-approvers.ts";
import { checkSchema } from "./check-schema.ts";
import { days, type DurationMs } from "./duration.ts";
import type { AgentNode } from "./node.ts";
import type { Downstream, ReadTool, WriteTool } from "./tool.ts";

type Wrong = (problem: string) => never;

/** Step Functions ends a Standard execution after a year: nobody could be waited for longer. From its quotas page. */
const validForMsMax = days(365);

/** Checks one node on its own. `wrong` names the node. */
export function checkNode(agent: Agent, node: AgentNode, wrong: Wrong): void {
  switch (node.kind) {
    case "model":
      checkSchema(node.output, (problem) => wrong(`output schema: ${problem}`));
      checkCount(node.attemptsMax, "attempts", wrong);
      checkCount(node.outputTokensMax, "outputTokens", wrong);
      checkTimeout(node.timeoutMs, wrong);
      if (node.prompt.text.trim() === "") wrong("its prompt has no text");
      return;
    case "read":
      checkTool(node.tool, wrong);
      return;
    case "write":
      checkTool(node.tool, wrong);
      if (node.compensate) checkCompensation(node.tool, node.compensate.tool, wrong);
      return;
    case "approval": {
      const write = agent.nodes.find((candidate) => candidate.name === node.of);
      if (write?.kind !== "write")
        return wrong(
          `approves "${node.of}", which is ${write ? `a ${write.kind} node` : "no node"}: name a write node`,
        );
      const inRange = node.validForMs > 0 && node.validForMs <= validForMsMax;
      if (!inRange) {
        wrong(
          `validFor must be longer than nothing and at most 365 days, after which an execution ends; found ${node.validForMs} ms`,
        );
      }
      checkApprovers(node, write, wrong);
      return;
    }
    case "compute":
      checkSchema(node.output, (problem) => wrong(`output schema: ${problem}`));
      return;
    case "route":
      if (node.to.length === 0) wrong("leads nowhere: give at least one target");
      return;
    default:
      node satisfies never;
  }
}

function checkTool(tool: ReadTool<unknown> | WriteTool<unknown>, wrong: Wrong): void {
  checkCount(tool.version, `version of tool "${tool.name}"`, wrong);
  checkSchema(tool.input, (problem) => wrong(`input schema of tool "${tool.name}": ${problem}`));
  checkSchema(tool.output, (problem) => wrong(`output schema of tool "${tool.name}": ${problem}`));
  checkCount(tool.attemptsMax, "attempts", wrong);
  checkTimeout(tool.timeoutMs, wrong);
  if (tool.effect === "read") return;
  if (tool.semanticFields.length === 0) {
    wrong(`tool "${tool.name}" declares no semantic fields: name the ones whose change is another request`);
  }
  checkDownstream(tool.name, tool.downstream, wrong);
}

/** What all runs of a workflow share, one of them must not take back from the others. */
function checkCompensation(tool: WriteTool<unknown>, undoing: WriteTool<unknown>, wrong: Wrong): void {
  const inCompensation: Wrong = (problem) => wrong(`compensate: ${problem}`);
  checkTool(undoing, inCompensation);
  const shared = [tool, undoing].find(({ scope }) => scope === "workflow");
  if (!shared) return;
  inCompensation(
    `the operations of tool "${shared.name}" belong to every run of a workflow (scope "workflow"): one run must not undo them for the others`,
  );
}

function checkDownstream(tool: string, downstream: Downstream, wrong: Wrong): void {
  if (downstream.by === "none") return;
  if (downstream.by === "key" && !(downstream.windowMs > 0))
    wrong(`the window of tool "${tool}" must be longer than nothing, found ${downstream.windowMs} ms`);
  if (!(downstream.settleMs >= 0))
    wrong(`the settle time of tool "${tool}" must not be negative, found ${downstream.settleMs} ms`);
}

const checkCount = (value: number, what: string, wrong: Wrong): void => {
  if (!Number.isInteger(value) || value < 1) wrong(`${what} must be a whole number from 1, found ${value}`);
};

const checkTimeout = (timeoutMs: DurationMs, wrong: Wrong): void => {
  if (!(timeoutMs > 0 && Number.isFinite(timeoutMs)))
    wrong(`timeout must be longer than nothing, found ${timeoutMs} ms`);
};
