import type { WriteNode } from "../../../shared/agent/node.ts";
import { OperationConflict } from "../../../shared/faults/faults.ts";
import type { OperationCall } from "../../../shared/operation/operation-call.ts";
import { runOperation } from "../../../shared/operation/run-operation.ts";
import type { NodePorts } from "../../../shared/run/ports.ts";
import { reconcileOperation } from "../../../shared/run/reconcile-operation.ts";
import { positionAt } from "../../../shared/runlog/position.ts";
import type { Actor } from "./actor.ts";
import { agentOf, run, theId } from "./drilled-run.ts";
import { judgeAnswer } from "./judge-ledger.ts";
import { portsOf } from "./reach-ledger.ts";
import type { Stage } from "./stage.ts";

/** One life of an executor, through the product's own four phases. @returns what it ended as. */
export async function execute(actor: Actor, node: WriteNode, amountCents: number, stage: Stage): Promise<string> {
  const call: OperationCall = {
    run,
    node,
    position: positionAt(0, "place"),
    state: { input: { order: "ORD-1", amountCents } },
    approvals: [],
    guarded: false,
    killedAtMs: deadlineOf(actor, stage),
    dispatcher: "run",
    functionArn: undefined,
  };
  try {
    const answer = JSON.stringify((await runOperation(call, portsOf(actor, stage))).output);
    stage.problems.push(...judgeAnswer(actor, amountCents, answer, stage.store.peek(theId)));
    stage.answers.push(answer);
    return "succeeded";
  } catch (error) {
    if (error instanceof OperationConflict) return "conflict";
    throw error;
  }
}

/** One visit of the sweep. @returns what it found. */
export async function sweep(actor: Actor, node: WriteNode, stage: Stage): Promise<string> {
  const ports = portsOf(actor, stage);
  // A reconciliation asks the log for nothing but its run.
  const nodePorts = { ...ports, log: { readRun: ports.readRun } } as unknown as NodePorts;
  return reconcileOperation(
    agentOf(node),
    { operationId: theId, killedAtMs: deadlineOf(actor, stage), functionArn: undefined },
    nodePorts,
  );
}

const deadlineOf = (actor: Actor, { parts }: Stage): number =>
  parts.find((part) => part.actor === actor)?.killedAtMs ?? 0;
