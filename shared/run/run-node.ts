import { approvalsOf } from "../agent/agent.ts";
import {
  type ComputeNode,
  type ModelNode,
  type ReadNode,
  type RouteNode,
  staleTarget,
  type WriteNode,
} from "../agent/node.ts";
import type { Rejection } from "../approval/approval.ts";
import { commitMarginMs } from "../compile/node-time.ts";
import { classifyError } from "../faults/classify.ts";
import { Fault } from "../faults/fault.ts";
import { SentBack } from "../faults/faults.ts";
import { boundedCall, type CallEnd } from "../operation/bounded-call.ts";
import { canonicalJson } from "../operation/canonical-json.ts";
import { runOperation } from "../operation/run-operation.ts";
import { packValue } from "../payloads/claim-check.ts";
import { guardsOfWrite } from "./guards-of-write.ts";
import { simulateWrite } from "./simulate-write.ts";
import { parseOutput, userCode } from "./user-code.ts";
import type { NodeRun } from "./node-run.ts";
import type { NodePorts } from "./ports.ts";
import type { NodeResult } from "./step-of.ts";
import { supersedeDecision } from "./supersede-approval.ts";

/** Runs one node that does not wait. @throws a Fault that says by class what the state machine does next. */
export async function runNode(
  node: ModelNode | ReadNode | WriteNode | ComputeNode | RouteNode,
  at: NodeRun,
  ports: NodePorts,
): Promise<NodeResult> {
  const done = async (output: unknown, next: string = node.next): Promise<NodeResult> => ({
    outcome: "done",
    output: await packValue(ports.payloads, at.run.run_id, output),
    next,
  });
  switch (node.kind) {
    case "model": {
      const answer = await askModel(node, at, ports);
      return { ...(await done(answer.output)), usage: answer.usage };
    }
    case "read":
      return done(await callReadTool(node, at, ports));
    case "compute":
      return done(
        parseOutput(
          node.name,
          node.output,
          userCode(node.name, "run", () => node.run(at.state)),
        ),
      );
    case "route": {
      const chosen = userCode(node.name, "choose", () => node.choose(at.state));
      if (!node.to.includes(chosen)) {
        throw new Fault(
          "route_unknown",
          "final",
          `node ${node.name} chose "${chosen}"; expected one of ${node.to.join(", ")}`,
        );
      }
      return done({ chosen }, chosen);
    }
    case "write":
      return at.run.simulated ? simulateWrite(node, at, ports) : write(node, at, ports);
    default:
      return node satisfies never;
  }
}

async function askModel(node: ModelNode, at: NodeRun, ports: NodePorts) {
  const data = canonicalJson(userCode(node.name, "prompt.data", () => node.prompt.data(at.state)));
  const end = await boundedCall(ports.clock, deadlineOf(node.timeoutMs, at, ports), (signal) =>
    ports.models.answer({
      model: node.model,
      name: node.name,
      instructions: node.prompt.text,
      data,
      output: node.output,
      outputTokensMax: node.outputTokensMax,
      signal,
    }),
  );
  return valueOf(end, `the model of ${node.name}`, () => undefined, ports);
}

async function callReadTool(node: ReadNode, at: NodeRun, ports: NodePorts): Promise<unknown> {
  const { tool } = node;
  const request = parseOutput(
    node.name,
    tool.input,
    userCode(node.name, "with", () => node.request(at.state)),
  );
  const end = await boundedCall(ports.clock, deadlineOf(tool.timeoutMs, at, ports), (signal) =>
    tool.execute(request as never, { signal }),
  );
  return parseOutput(node.name, tool.output, valueOf(end, tool.name, tool.classify, ports));
}

const deadlineOf = (timeoutMs: number, at: NodeRun, { clock }: NodePorts): number =>
  Math.min(clock.nowMs() + timeoutMs, at.killedAtMs - commitMarginMs);

/** What a call gave that changes nothing outside: an unknown end is as good as a failed one. */
function valueOf<T>(end: CallEnd<T>, what: string, classify: ReadNode["tool"]["classify"], ports: NodePorts): T {
  switch (end.kind) {
    case "returned":
      return end.value;
    case "timed_out":
      throw new Fault("call_timeout", "retryable", `${what} gave no answer in time`);
    case "threw": {
      const classified = classifyError(end.error);
      const failureClass = classify?.(end.error) ?? classified.failureClass;
      const message = end.error instanceof Error ? end.error.message : String(end.error);
      throw new Fault(classified.code, failureClass === "final" ? "final" : "retryable", `${what} failed: ${message}`, {
        ...(classified.httpStatus !== undefined && { facts: { http_status: classified.httpStatus } }),
        ...(classified.retryAfterMs !== undefined && { notBeforeMs: ports.clock.nowMs() + classified.retryAfterMs }),
        cause: end.error,
      });
    }
    default:
      return end satisfies never;
  }
}

async function write(node: WriteNode, at: NodeRun, ports: NodePorts): Promise<NodeResult> {
  const { approvals, guarded } = await guardsOfWrite({ ...at, node }, ports.log);
  try {
    const result = await runOperation(
      {
        run: at.run,
        node,
        position: at.position,
        state: at.state,
        approvals,
        guarded,
        killedAtMs: at.killedAtMs,
        dispatcher: "run",
        functionArn: at.functionArn,
      },
      { ...ports, readRun: (runId) => ports.log.readRun(runId) },
    );
    return { outcome: "done", output: result.output, next: node.next, operationId: result.operationId };
  } catch (error) {
    const guards = approvalsOf(at.agent, node.name);
    const guard = guards.find(({ name }) => name === (error as Partial<SentBack>).approval) ?? guards[0];
    if (!(error instanceof SentBack) || !guard) throw error;
    // Before the step that goes back: whoever dies in between finds the decision void, and never goes forward on it.
    const failed = approvals.filter(({ node: of }) => error.approval === undefined || of.name === error.approval);
    for (const { outcome } of failed) {
      if (outcome.approval_id !== undefined) await supersedeDecision(outcome.approval_id, error, ports);
    }
    const rejection: Rejection = {
      node: node.name,
      reason: error.reason,
      ...(error.comment !== undefined && { comment: error.comment }),
    };
    return {
      outcome: "sent_back",
      output: await packValue(ports.payloads, at.run.run_id, rejection),
      next: staleTarget(guard, error.reason),
    };
  }
}
