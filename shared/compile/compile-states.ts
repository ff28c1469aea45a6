import { type Agent, nodeOf } from "../agent/agent.ts";
import { compensableNodes, compensationOf } from "../agent/compensation.ts";
import type { AgentNode, ApprovalNode, WriteNode } from "../agent/node.ts";
import { deliveryOf } from "../agent/tool.ts";
import { AgentDefinitionError } from "../faults/faults.ts";
import { END } from "../runlog/step.ts";
import { type AslState, type Catcher, type ChoiceState, type StateMachineDefinition, type TaskState } from "./asl.ts";
import type { CompileSettings } from "./compile-settings.ts";
import { afterSettle, compensationState, compensationStates } from "./compensation-states.ts";
import { COMPENSATE, exitsOf, type Line, lineOf, TAKE_OVER, WAIT } from "./lines.ts";
import { nodeTimeMs } from "./node-time.ts";
import { retryOfLine, retryOfNodes } from "./retry-policy.ts";
import { backstopSeconds, expireTask, resolveTask, settleTask, stepTask, waitTask } from "./tasks.ts";
import { sentBackError, sentBackTargets } from "./sent-back.ts";
import { wireError } from "./wire-errors.ts";

/** Names of the states that are not lines. Those without a space are kept from lines in `lines.ts`: nodes' names have none. */
const state = {
  start: "Start",
  done: "Done",
  stopped: "Stopped quietly",
  lost: "Route unknown",
  takeOver: "Take over run",
  settle: "Settle failure",
  failed: "Failed",
  wait: (approval: string) => `Wait for ${approval}`,
  expire: (approval: string) => `Expire ${approval}`,
  after: (line: string) => `After ${line}`,
  resolve: (line: string) => `Resolve ${line}`,
} as const;

/** Writes the states of an agent. The payload that travels between them holds ids only: run_id, position, next. */
export function compileStates(agent: Agent, lines: readonly Line[], settings: CompileSettings): StateMachineDefinition {
  const target = (node: string): string => (node === END ? state.done : (lineOf(lines, node)?.name ?? state.settle));
  const undoable = compensableNodes(agent);
  const compensates = undoable.length > 0;
  const states: Record<string, AslState> = {
    [state.start]: {
      Type: "Choice",
      Comment:
        "A new run enters at its first node, a resumed one at any; where a line finds the log further on, it goes on from there.",
      Choices: [
        ...agent.nodes.map(({ name }) => choice(name, target(name))),
        ...(compensates ? [choice(COMPENSATE, compensationState.compensate)] : []),
        choice(TAKE_OVER, state.takeOver),
        choice(END, state.done),
      ],
      Default: state.lost,
    },
  };
  for (const line of lines) {
    checkTimes(
      agent,
      line.nodes.map((name) => nodeOf(agent, name)),
      settings,
    );
    const exits = exitsOf(agent, line);
    const approval = line.nodes.map((name) => nodeOf(agent, name)).find((node) => node.kind === "approval");
    const stateOf = (exit: string) => {
      if (exit === COMPENSATE) return compensationState.compensate;
      return exit === WAIT && approval ? state.wait(approval.name) : target(exit);
    };
    states[line.name] = lineTask(agent, line, exits, stateOf, target, settings);
    if (exits.length > 1) states[state.after(line.name)] = choiceAfter(exits, stateOf);
    // An answer that ends the run comes back into its line, which closes the run.
    const answered = (node: string) => (node === END ? line.name : target(node));
    if (approval) Object.assign(states, waitStates(line, approval, answered));
    if (line.nodes.some((name) => nodeOf(agent, name).kind === "write")) {
      states[state.resolve(line.name)] = resolveTask(line.name, settings, { Catch: catchFailure, Next: line.name });
    }
  }
  if (compensates) {
    checkTimes(agent, undoable.map(compensationOf), settings);
    Object.assign(states, compensationStates(undoable, state, settings));
  }
  states[state.takeOver] = stepTask(
    { line: TAKE_OVER, comment: "This version looks whether, and where, it may continue the run" },
    settings,
    { Retry: retryOfNodes([]), Catch: catchFailure, way: { Next: state.start } },
  );
  Object.assign(states, closingStates(states, compensates));
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
  return stepTask(
    { line: line.name, comment: line.nodes.map((name) => `${name}: ${nodeOf(agent, name).kind}`).join(", ") },
    settings,
    {
      Retry: retryOfLine(agent, line),
      Catch: [...lineCatch(agent, line, target), ...catchFailure],
      way: ends
        ? { End: true }
        : { Next: exits.length === 1 && only !== undefined ? stateOf(only) : state.after(line.name) },
    },
  );
}

function lineCatch(agent: Agent, line: Line, target: (node: string) => string): readonly Catcher[] {
  const writes = line.nodes.map((name) => nodeOf(agent, name)).filter((node) => node.kind === "write");
  const unknown = [
    ...writes.map((write) => wireError.unknown(write.name)),
    ...writes.filter(isHandedOut).map((write) => wireError.handedOut(write.name)),
  ];
  const sentBack = writes.flatMap(({ name }) =>
    sentBackTargets(agent, name)
      .filter((node) => node !== END && !line.nodes.includes(node))
      .map((node) => ({ ErrorEquals: [sentBackError(agent, name, node)], ResultPath: null, Next: target(node) })),
  );
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
    Choices: exits.map((exit) => choice(exit, stateOf(exit))),
    // Another execution has recorded more than this line knows.
    Default: state.start,
  };
}

const choice = (next: string, Next: string) => ({ Variable: "$.next", StringEquals: next, Next });

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
    [state.wait(approval.name)]: waitTask(
      {
        line: line.name,
        comment: "Waits for a person. The answer is the step at the same position; expiry is recorded there too.",
        seconds: Math.ceil(approval.validForMs / 1_000) + backstopSeconds,
      },
      {
        Catch: [
          after(approval.onReject, wireError.rejected),
          after(approval.onExpire, wireError.expired),
          { ErrorEquals: ["States.Timeout"], ResultPath: null, Next: state.expire(approval.name) },
          ...catchFailure,
        ],
        Next: target(approval.next),
      },
    ),
    [state.expire(approval.name)]: expireTask(line.name, {
      Catch: catchFailure,
      Next: state.after(state.expire(approval.name)),
    }),
    [state.after(state.expire(approval.name))]: choiceAfter(answers, target),
  };
}

function closingStates(states: Readonly<Record<string, AslState>>, compensates: boolean): Record<string, AslState> {
  const text = JSON.stringify(states);
  const used = (name: string) => text.includes(`"Next":${JSON.stringify(name)}`);
  return {
    [state.settle]: settleTask(compensates, {
      Catch: [{ ErrorEquals: [wireError.stale], ResultPath: null, Next: state.stopped }],
      Next: compensates ? state.after(state.settle) : state.failed,
    }),
    ...(compensates && { [state.after(state.settle)]: afterSettle(state.failed) }),
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

function checkTimes(agent: Agent, nodes: readonly AgentNode[], settings: CompileSettings): void {
  for (const node of nodes) {
    const needsMs = nodeTimeMs(node);
    if (needsMs > settings.stepTimeoutSeconds * 1_000) {
      throw new AgentDefinitionError(
        agent.name,
        `node "${node.name}" may take ${needsMs} ms, but the step function is killed after ${settings.stepTimeoutSeconds} s: shorten its timeout or raise stepTimeoutSeconds`,
        { node: node.name },
      );
    }
  }
}
