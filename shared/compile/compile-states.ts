import { type Agent, approvalsOf, nodeOf } from "../agent/agent.ts";
import type { ApprovalNode, WriteNode } from "../agent/node.ts";
import { deliveryOf } from "../agent/tool.ts";
import { AgentDefinitionError } from "../faults/faults.ts";
import { END } from "../runlog/step.ts";
import {
  type AslState,
  type Catcher,
  type ChoiceState,
  lambdaInvoke,
  lambdaInvokeAndWait,
  type StateMachineDefinition,
  type TaskState,
} from "./asl.ts";
import type { CompileSettings } from "./compile-settings.ts";
import { exitsOf, type Line, lineOf, WAIT } from "./lines.ts";
import { nodeTimeMs } from "./node-time.ts";
import { genericRetry, retryOfLine } from "./retry-policy.ts";
import { wireError } from "./wire-errors.ts";

/** Names of the states that are not lines. Those without a space are kept from lines in `lines.ts`: nodes' names have none. */
const state = {
  start: "Start",
  done: "Done",
  stopped: "Stopped quietly",
  lost: "Route unknown",
  settle: "Settle failure",
  failed: "Failed",
  wait: (approval: string) => `Wait for ${approval}`,
  expire: (approval: string) => `Expire ${approval}`,
  after: (line: string) => `After ${line}`,
  resolve: (line: string) => `Resolve ${line}`,
} as const;

/** Seconds by which a state's own timeout outlives what it backs up: the function's kill, or the recorded expiry. */
const backstopSeconds = 10;
/** Functions without agent code: a few reads and writes. */
const shortTaskSeconds = 60;
/** Step Functions' limit on TimeoutSeconds. */
const stateTimeoutSecondsMax = 99_999_999;

/** Writes the states of an agent. The payload that travels between them holds ids only: run_id, position, next. */
export function compileStates(agent: Agent, lines: readonly Line[], settings: CompileSettings): StateMachineDefinition {
  const target = (node: string): string => (node === END ? state.done : (lineOf(lines, node)?.name ?? state.settle));
  const states: Record<string, AslState> = {
    [state.start]: {
      Type: "Choice",
      Comment: "A new run enters at its first node, a resumed one at any.",
      Choices: agent.nodes.map((node) => ({
        Variable: "$.resume_at",
        StringEquals: node.name,
        Next: target(node.name),
      })),
      Default: state.lost,
    },
  };
  for (const line of lines) {
    checkTimes(agent, line, settings);
    const exits = exitsOf(agent, line);
    const approval = line.nodes.map((name) => nodeOf(agent, name)).find((node) => node.kind === "approval");
    const stateOf = (exit: string) => (exit === WAIT && approval ? state.wait(approval.name) : target(exit));
    states[line.name] = lineTask(agent, line, exits, stateOf, target, settings);
    if (exits.length > 1) states[state.after(line.name)] = choiceAfter(exits, stateOf);
    // An answer that ends the run comes back into its line, which closes the run.
    const answered = (node: string) => (node === END ? line.name : target(node));
    if (approval) Object.assign(states, waitStates(line, approval, answered));
    if (line.nodes.some((name) => nodeOf(agent, name).kind === "write")) {
      states[state.resolve(line.name)] = resolveTask(line, settings);
    }
  }
  Object.assign(states, closingStates(states));
  return {
    Comment: `${agent.name} version ${agent.version}, compiled by Surefoot`,
    StartAt: state.start,
    States: states,
  };
}

function lineTask(
  agent: Agent,
  line: Line,
  exits: readonly string[],
  stateOf: (exit: string) => string,
  target: (node: string) => string,
  settings: CompileSettings,
): TaskState {
  const [only] = exits;
  const ends = exits.length === 1 && only === END;
  return {
    Type: "Task",
    Comment: line.nodes.map((name) => `${name}: ${nodeOf(agent, name).kind}`).join(", "),
    Resource: lambdaInvoke,
    Parameters: {
      FunctionName: "${StepFunctionArn}",
      Payload: { ...ids, line: line.name },
    },
    ResultSelector: { "run_id.$": "$.Payload.run_id", "position.$": "$.Payload.position", "next.$": "$.Payload.next" },
    TimeoutSeconds: settings.stepTimeoutSeconds + backstopSeconds,
    Retry: retryOfLine(agent, line),
    Catch: [...lineCatch(agent, line, target), ...catchFailure],
    ...(ends
      ? { End: true }
      : { Next: exits.length === 1 && only !== undefined ? stateOf(only) : state.after(line.name) }),
  };
}

/** What every Lambda is told: which run, where, and which execution asks. Never user data. */
const ids = { "run_id.$": "$.run_id", "position.$": "$.position", "execution.$": "$$.Execution.Name" } as const;

function lineCatch(agent: Agent, line: Line, target: (node: string) => string): readonly Catcher[] {
  const writes = line.nodes.map((name) => nodeOf(agent, name)).filter((node) => node.kind === "write");
  const unknown = [
    ...writes.map((write) => wireError.unknown(write.name)),
    ...writes.filter(isHandedOut).map((write) => wireError.handedOut(write.name)),
  ];
  const sentBack = writes.flatMap((write) => {
    const [guard] = approvalsOf(agent, write.name);
    if (!guard || guard.onStale === END || line.nodes.includes(guard.onStale)) return [];
    return [{ ErrorEquals: [wireError.sentBack(write.name)], ResultPath: null, Next: target(guard.onStale) }];
  });
  return [
    ...(unknown.length > 0 ? [{ ErrorEquals: unknown, ResultPath: null, Next: state.resolve(line.name) }] : []),
    ...sentBack,
  ];
}

const isHandedOut = (write: WriteNode): boolean => deliveryOf(write.tool.downstream) !== "direct";

const catchFailure: readonly Catcher[] = [
  { ErrorEquals: [wireError.stale], ResultPath: null, Next: state.stopped },
  { ErrorEquals: ["States.ALL"], ResultPath: "$.failure", Next: state.settle },
];

function choiceAfter(exits: readonly string[], stateOf: (exit: string) => string): ChoiceState {
  return {
    Type: "Choice",
    Choices: exits.map((exit) => ({ Variable: "$.next", StringEquals: exit, Next: stateOf(exit) })),
    Default: state.lost,
  };
}

function waitStates(line: Line, approval: ApprovalNode, target: (node: string) => string): Record<string, AslState> {
  const after = (node: string, error: string): Catcher => ({
    ErrorEquals: [error],
    ResultPath: null,
    Next: target(node),
  });
  const answers = [
    ...new Map([approval.next, approval.onReject, approval.onExpire].map((node) => [node, node])).keys(),
  ];
  return {
    [state.wait(approval.name)]: {
      Type: "Task",
      Comment: `Waits for a person. The answer is the step at the same position; expiry is recorded there too.`,
      Resource: lambdaInvokeAndWait,
      Parameters: {
        FunctionName: "${WaitFunctionArn}",
        Payload: { ...ids, line: line.name, action: "ask", "task_token.$": "$$.Task.Token" },
      },
      ResultPath: null,
      TimeoutSeconds: Math.min(Math.ceil(approval.validForMs / 1_000) + backstopSeconds, stateTimeoutSecondsMax),
      Retry: genericRetry,
      Catch: [
        after(approval.onReject, wireError.rejected),
        after(approval.onExpire, wireError.expired),
        { ErrorEquals: ["States.Timeout"], ResultPath: null, Next: state.expire(approval.name) },
        ...catchFailure,
      ],
      ...next(target(approval.next)),
    },
    [state.expire(approval.name)]: {
      Type: "Task",
      Comment: "Records the expiry unless an answer was first: the log decides.",
      Resource: lambdaInvoke,
      Parameters: { FunctionName: "${WaitFunctionArn}", Payload: { ...ids, line: line.name, action: "expire" } },
      ResultSelector: {
        "run_id.$": "$.Payload.run_id",
        "position.$": "$.Payload.position",
        "next.$": "$.Payload.next",
      },
      TimeoutSeconds: shortTaskSeconds,
      Retry: genericRetry,
      Catch: catchFailure,
      Next: state.after(state.expire(approval.name)),
    },
    [state.after(state.expire(approval.name))]: choiceAfter(answers, target),
  };
}

function resolveTask(line: Line, settings: CompileSettings): TaskState {
  return {
    Type: "Task",
    Comment: "An effect may or may not have happened: waits for a person, then the ledger decides.",
    Resource: lambdaInvokeAndWait,
    Parameters: {
      FunctionName: "${WaitFunctionArn}",
      Payload: { ...ids, line: line.name, action: "ask", "task_token.$": "$$.Task.Token" },
    },
    ResultPath: null,
    TimeoutSeconds: Math.min(settings.resolutionWaitSeconds, stateTimeoutSecondsMax),
    Retry: genericRetry,
    Catch: catchFailure,
    Next: line.name,
  };
}

function closingStates(states: Readonly<Record<string, AslState>>): Record<string, AslState> {
  const text = JSON.stringify(states);
  const used = (name: string) => text.includes(`"Next":${JSON.stringify(name)}`);
  return {
    [state.settle]: {
      Type: "Task",
      Comment: "Records why the run stopped. The run is parked or failed, never lost.",
      Resource: lambdaInvoke,
      Parameters: {
        FunctionName: "${SettleFunctionArn}",
        Payload: { "run_id.$": "$.run_id", "execution.$": "$$.Execution.Name", "error.$": "$.failure.Error" },
      },
      ResultPath: null,
      TimeoutSeconds: shortTaskSeconds,
      Retry: genericRetry,
      Catch: [{ ErrorEquals: [wireError.stale], ResultPath: null, Next: state.stopped }],
      Next: state.failed,
    },
    [state.lost]: {
      Type: "Pass",
      Comment: "A route that these states do not have: a bug or a foreign input.",
      Result: { Error: "surefoot.route_unknown" },
      ResultPath: "$.failure",
      Next: state.settle,
    },
    [state.failed]: {
      Type: "Fail",
      Error: "surefoot.run_stopped",
      Cause: "The run says why: surefoot trace <run_id>",
    },
    [state.stopped]: { Type: "Succeed", Comment: "Another execution owns the run, or the run has ended." },
    ...(used(state.done) && { [state.done]: { Type: "Succeed" } satisfies AslState }),
  };
}

const next = (name: string): { readonly Next: string } => ({ Next: name });

function checkTimes(agent: Agent, line: Line, settings: CompileSettings): void {
  for (const name of line.nodes) {
    const needsMs = nodeTimeMs(nodeOf(agent, name));
    if (needsMs > settings.stepTimeoutSeconds * 1_000) {
      throw new AgentDefinitionError(
        agent.name,
        `node "${name}" may take ${needsMs} ms, but the step function is killed after ${settings.stepTimeoutSeconds} s: shorten its timeout or raise stepTimeoutSeconds`,
        { node: name },
      );
    }
  }
}
