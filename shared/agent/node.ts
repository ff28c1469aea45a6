import type { z } from "zod";
import type { StaleReason } from "../approval/approval.ts";
import type { ApprovalView } from "../approval/approval-view.ts";
import type { ApproverRule } from "../approval/approver-rule.ts";
import type { DurationMs } from "./duration.ts";
import type { NodeKind } from "./node-kind.ts";
import type { Prompt } from "./prompt.ts";
import type { ReadTool, WriteTool } from "./tool.ts";

/**
 * Nodes as the runtime sees them: the builder has checked the types of every callback against the outputs it reads, so here state is
 * plain data and callbacks take `never`-typed requests only through `erase`.
 */
export type State = Readonly<Record<string, unknown>>;

interface NodeBase {
  readonly name: string;
  readonly kind: NodeKind;
  /** Where the node leads when it does not branch: a node or `end`. */
  readonly next: string;
}

export interface ModelNode extends NodeBase {
  readonly kind: "model";
  readonly prompt: Prompt<State>;
  readonly output: z.ZodType;
  /** Name in the model policy; the deployment says which provider and model that is. */
  readonly model: string;
  readonly attemptsMax: number;
  readonly timeoutMs: DurationMs;
  readonly outputTokensMax: number;
}

export interface ReadNode extends NodeBase {
  readonly kind: "read";
  readonly tool: ReadTool<unknown>;
  readonly request: (state: State) => unknown;
}

/** Asked right before the claim while nothing was sent. A text says why not. */
export type Precondition<Request> = (request: Request, state: State) => Promise<true | string> | true | string;

/** How a write that has succeeded is undone. */
export interface Compensation {
  readonly tool: WriteTool<unknown>;
  /** `state` is what the write saw, `result` what it came to: the same for ever, so the request is too. */
  readonly request: (state: State, result: unknown) => unknown;
}

export interface WriteNode extends NodeBase {
  readonly kind: "write";
  readonly tool: WriteTool<unknown>;
  readonly request: (state: State) => unknown;
  /** `undefined`: the digest of the semantic fields is the key. */
  readonly businessKey: ((state: State) => string) | undefined;
  readonly precondition: Precondition<unknown> | undefined;
  readonly compensate: Compensation | undefined;
}

export interface ApprovalNode extends NodeBase {
  readonly kind: "approval";
  /** The write it authorises. */
  readonly of: string;
  readonly when: ((state: State) => boolean) | undefined;
  readonly show: (state: State) => ApprovalView;
  readonly validForMs: DurationMs;
  /** What the decision relies on beside the request: read when it is asked, and again right before the claim. May answer later. */
  readonly snapshot: ((state: State) => unknown) | undefined;
  readonly approvers: ApproverRule;
  readonly autoApprove: AutoApproval | undefined;
  readonly onReject: string;
  /** Where it leads when nobody decided: its time ran out, or somebody withdrew the question. */
  readonly onExpire: string;
  /** Where a decision leads that no longer holds at dispatch. */
  readonly onStale: string;
  /** The same for single reasons, where they lead elsewhere. */
  readonly onStaleFor: Readonly<Partial<Record<StaleReason, string>>>;
}

/** A rule that decides in a person's place. Never where the risk is high. */
export interface AutoApproval {
  readonly when: (state: State) => boolean;
  /** Its name, for the record. */
  readonly policy: string;
}

export interface ComputeNode extends NodeBase {
  readonly kind: "compute";
  readonly output: z.ZodType;
  readonly run: (state: State) => unknown;
}

export interface RouteNode extends NodeBase {
  readonly kind: "route";
  readonly to: readonly string[];
  readonly choose: (state: State) => string;
}

export type AgentNode = ModelNode | ReadNode | WriteNode | ApprovalNode | ComputeNode | RouteNode;

/** Where a decision on this approval leads that failed its check. */
export const staleTarget = (node: ApprovalNode, reason: StaleReason): string => node.onStaleFor[reason] ?? node.onStale;

/** Every place where a stale decision on this approval may lead. */
export const staleTargets = (node: ApprovalNode): readonly string[] => [
  ...new Set([node.onStale, ...Object.values(node.onStaleFor)]),
];

/** Every place a node may lead to. */
export function successorsOf(node: AgentNode): readonly string[] {
  switch (node.kind) {
    case "route":
      return [...new Set(node.to)];
    case "approval":
      return [...new Set([node.next, node.onReject, node.onExpire])];
    case "model":
    case "read":
    case "write":
    case "compute":
      return [node.next];
    default:
      return node satisfies never;
  }
}
