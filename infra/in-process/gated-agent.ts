import type { Agent } from "../../shared/agent/agent.ts";
import type { CallContext, Lookup, ReadTool, WriteCallContext, WriteTool } from "../../shared/agent/tool.ts";
import type { Actor } from "./actor.ts";
import type { Scheduler, Turn } from "./scheduler.ts";
import type { Outside, StandIn } from "./stand-in.ts";

export interface AgentGate {
  readonly scheduler: Scheduler;
  readonly outside: Outside;
  /** By tool name. A tool without one runs its own code. */
  readonly standIns: ReadonlyMap<string, StandIn>;
  /** In the place of a node's own precondition, by node name. */
  readonly preconditions: Readonly<
    Record<string, (request: unknown, state: unknown) => Promise<true | string> | true | string>
  >;
}

/** A tool in the shape that all of them have. */
interface AnyTool {
  readonly name: string;
  readonly effect: "read" | "write";
  readonly execute: (request: unknown, context: CallContext & Partial<WriteCallContext>) => Promise<unknown>;
}

type Callback = (...args: readonly unknown[]) => unknown;
/** Callbacks of a node that may reach outside before its write. */
const reachingOut = ["precondition", "snapshot"] as const;

/**
 * The same agent as one process runs it: every piece of its own code that may reach outside passes the gate. Wherever a tool stands in a
 * node it is found by its shape, so that a new kind of node is gated from its first day.
 */
export function gatedAgent(agent: Agent, actor: Actor, gate: AgentGate): Agent {
  const nodes = agent.nodes.map((node) => {
    const gated = deepTools(node, (tool) => gatedTool(tool, actor, gate)) as typeof node;
    const callbacks = reachingOut.flatMap((name) => {
      const own = (gated as unknown as Readonly<Record<string, Callback | undefined>>)[name];
      if (own === undefined) return [];
      const replaced = name === "precondition" ? (gate.preconditions[node.name] as Callback | undefined) : undefined;
      return [[name, gatedCallback(name, node.name, replaced ?? own, actor, gate)] as const];
    });
    return { ...gated, ...Object.fromEntries(callbacks) };
  });
  return { ...agent, nodes };
}

function gatedTool<T extends AnyTool>(tool: T, actor: Actor, gate: AgentGate): T {
  const standIn = gate.standIns.get(tool.name);
  const execute = (request: unknown, context: CallContext & Partial<WriteCallContext>): Promise<unknown> =>
    gate.scheduler.pass(actor, {
      port: "tool",
      verb: tool.effect === "read" ? "read" : "execute",
      ids: { tool: tool.name, ...(context.idempotencyKey !== undefined && { operation_id: context.idempotencyKey }) },
      signal: context.signal,
      foreign: true,
      land: async (turn) => {
        const key = context.idempotencyKey;
        arrived(tool, "execute", key, request, gate);
        const call = { ...context, signal: signalOf(turn, context) };
        if (standIn) {
          const result = await standIn.execute(request, { key, signal: call.signal });
          if (!standIn.countsEffects) assumed(tool, key, request, result, gate);
          return result;
        }
        const result = await tool.execute(request, call);
        assumed(tool, key, request, result, gate);
        return result;
      },
    });
  return { ...tool, execute, ...lookupOf(tool, standIn, actor, gate) };
}

/** Replaces a declared lookup only: what a tool declares of the other side is part of the contract. */
function lookupOf(tool: AnyTool, standIn: StandIn | undefined, actor: Actor, gate: AgentGate) {
  if (tool.effect !== "write") return {};
  const { downstream } = tool as unknown as WriteTool<unknown>;
  const own = downstream.by === "none" ? undefined : downstream.lookup;
  if (own === undefined) return {};
  const lookup: Lookup<unknown, unknown> = (request, operationId, context) =>
    gate.scheduler.pass(actor, {
      port: "tool",
      verb: "lookup",
      ids: { tool: tool.name, operation_id: operationId },
      signal: context.signal,
      foreign: true,
      land: async () => {
        arrived(tool, "lookup", operationId, request, gate);
        return standIn?.lookup?.(request, { ...context, key: operationId }) ?? own(request, operationId, context);
      },
    });
  return { downstream: { ...downstream, lookup } };
}

const gatedCallback =
  (name: string, node: string, own: Callback, actor: Actor, gate: AgentGate): Callback =>
  (...args) =>
    gate.scheduler.pass(actor, {
      port: "tool",
      verb: name,
      ids: { node },
      foreign: true,
      land: async () => own(...args),
    });

/** A request that lands after its caller gave up has no abort left to hear. */
const signalOf = (turn: Turn, { signal }: CallContext): AbortSignal =>
  turn.late ? new AbortController().signal : signal;

function arrived(
  { name }: AnyTool,
  verb: "execute" | "lookup",
  key: string | undefined,
  request: unknown,
  { outside: { journal, nowMs, startMs } }: AgentGate,
): void {
  journal.arrived({ tool: name, verb, key, request, atMs: nowMs() - startMs });
}

/**
 * The tool's own code does not say what happened outside. Whatever returned has happened; two answers with one reference are one effect,
 * since that is the other side's own name for it.
 */
function assumed(
  tool: AnyTool,
  key: string | undefined,
  request: unknown,
  result: unknown,
  { outside }: AgentGate,
): void {
  if (tool.effect !== "write" || key === undefined) return;
  const { externalRef } = tool as unknown as WriteTool<unknown>;
  const referenceOf = (answer: unknown): string | undefined => {
    try {
      return externalRef?.(answer);
    } catch {
      return undefined;
    }
  };
  const reference = referenceOf(result);
  const known = outside.journal.effects(tool.name).some((effect) => referenceOf(effect.result) === reference);
  if (reference !== undefined && known) return;
  outside.journal.happened({ tool: tool.name, key, request, result, atMs: outside.nowMs() - outside.startMs });
}

/** Every tool of an agent, wherever it stands. */
export function toolsOf(agent: Agent): readonly (ReadTool | WriteTool)[] {
  const found: AnyTool[] = [];
  for (const node of agent.nodes) deepTools(node, (tool) => found[found.push(tool) - 1] ?? tool);
  // Found by their shape, which is a tool's.
  return found as unknown as readonly (ReadTool | WriteTool)[];
}

const isTool = (value: object): value is AnyTool =>
  "effect" in value && "execute" in value && typeof value.execute === "function";

/** A copy with every tool replaced, however deep it stands. Schemas and other instances are left alone. */
function deepTools(value: unknown, replace: (tool: AnyTool) => AnyTool): unknown {
  if (Array.isArray(value)) return value.map((item) => deepTools(item, replace));
  const plain = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  if (!plain) return value;
  if (isTool(value)) return replace(value);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, deepTools(member, replace)]));
}
