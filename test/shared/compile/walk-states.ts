import type { Agent, CompiledAgent } from "../../../shared/index.ts";
import type { AgentNode, ApprovalNode } from "../../../shared/agent/node.ts";
import type { AslState } from "../../../shared/compile/asl.ts";

/** A state, and the node that its Lambda is about to take; `undefined` where the run's last step is recorded. */
interface Place {
  readonly state: string;
  readonly node: string | undefined;
}

/**
 * Walks every way a run may take, by what the runtime does at each node (written out here once more, not asked of the compiler), through
 * the compiled states. Says where a state is entered that cannot do what comes next.
 */
export function wrongTurns(agent: Agent, compiled: CompiledAgent): readonly string[] {
  const states: Readonly<Record<string, AslState>> = compiled.definition.States;
  const problems: string[] = [];
  const seen = new Set<string>();
  const open: Place[] = [];
  const nodesOf = (state: string) => compiled.lines.find((line) => line.name === state)?.nodes ?? [];
  const enter = (from: string, state: string | undefined, node: string | undefined) => {
    const place = `${from} to ${state} for ${node ?? "the end"}`;
    if (state === undefined || !Object.hasOwn(states, state)) problems.push(`${place}: no such state`);
    else if (node !== undefined && !nodesOf(state).includes(node))
      problems.push(`${place}: the node is not on that line`);
    else if (!seen.has(JSON.stringify([state, node]))) {
      seen.add(JSON.stringify([state, node]));
      open.push({ state, node });
    }
  };
  const undone = agent.nodes.some((node) => node.kind === "write" && node.compensate);
  /** Turned down there, a run that can be compensated is. */
  const turnDown = (from: string) => {
    const state = undone ? afterChoice(states, from, "compensate!") : "Compensate operations";
    if (state !== "Compensate operations") problems.push(`${from} compensates in ${state}`);
  };
  /** The run leaves a state for `next`: a node, or `end`. */
  const leave = (from: string, next: string) => {
    const state = afterChoice(states, from, next);
    if (next !== "end") enter(from, state, next);
    else if (state === undefined || states[state]?.Type === "Succeed") return;
    else enter(from, state, undefined);
  };

  for (const { name } of agent.nodes) enter("Start", choose(states["Start"], name), name);
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { state } = place;
    if (place.node === undefined) {
      if (nodesOf(state).length === 0) problems.push(`${state} cannot close the run`);
      else leave(state, "end");
      continue;
    }
    const node = agent.nodes.find((candidate) => candidate.name === place.node)!;
    const follow = (next: string) => (nodesOf(state).includes(next) ? enter(state, state, next) : leave(state, next));
    for (const next of nextOf(node)) follow(next);
    if (node.kind === "write") {
      const resolve = caught(states[state], `surefoot.unknown.${node.name}`);
      if (states[resolve ?? ""]?.Type !== "Task") problems.push(`${state} does not catch a doubt about ${node.name}`);
      else enter(resolve!, afterChoice(states, resolve!, ""), node.name);
      const guards = agent.nodes.filter((candidate) => candidate.kind === "approval" && candidate.of === node.name);
      for (const guard of guards as readonly ApprovalNode[]) {
        for (const sentBack of [guard.onStale, ...Object.values(guard.onStaleFor)]) {
          const plain = sentBack === (guards[0] as ApprovalNode).onStale;
          const error = `surefoot.sent_back.${node.name}${plain ? "" : `.${sentBack}`}`;
          if (sentBack === "end") turnDown(state);
          if (sentBack === "end" || nodesOf(state).includes(sentBack)) follow(sentBack);
          else enter(state, caught(states[state], error), sentBack);
        }
      }
    }
    if (node.kind === "approval") {
      const wait = afterChoice(states, state, "wait!");
      if (wait !== `Wait for ${node.name}`) problems.push(`${state} waits in ${wait}, not for ${node.name}`);
      if ([node.onReject, node.onExpire].includes("end")) turnDown(state);
      const answered = (from: string, target: string | undefined, next: string) =>
        enter(from, target, next === "end" ? undefined : next);
      answered("approved", afterChoice(states, wait ?? "", ""), node.next);
      answered("rejected", caught(states[wait ?? ""], "surefoot.rejected"), node.onReject);
      answered("expired", caught(states[wait ?? ""], "surefoot.expired"), node.onExpire);
      const expire = caught(states[wait ?? ""], "States.Timeout") ?? "";
      for (const next of [node.next, node.onReject, node.onExpire])
        answered(expire, afterChoice(states, expire, next), next);
    }
  }
  return problems;
}

/** Where a node leads without waiting. */
function nextOf(node: AgentNode): readonly string[] {
  if (node.kind === "route") return node.to;
  if (node.kind === "approval") return node.when || node.autoApprove ? [node.next] : [];
  return [node.next];
}

function afterChoice(states: Readonly<Record<string, AslState>>, from: string, next: string): string | undefined {
  const state = states[from];
  if (state?.Type !== "Task" || state.Next === undefined) return undefined;
  const following = states[state.Next];
  return following?.Type === "Choice" ? choose(following, next) : state.Next;
}

const choose = (state: AslState | undefined, value: string): string | undefined =>
  state?.Type === "Choice"
    ? (state.Choices.find((choice) => choice.StringEquals === value)?.Next ?? state.Default)
    : undefined;

const caught = (state: AslState | undefined, error: string): string | undefined =>
  state?.Type === "Task"
    ? state.Catch?.find((catcher) => catcher.ErrorEquals.includes(error) || catcher.ErrorEquals.includes("States.ALL"))
        ?.Next
    : undefined;
