import type { z } from "zod";
import type { ApprovalOutcome, Rejection, StaleReason } from "../approval/approval.ts";
import type { ApprovalView } from "../approval/approval-view.ts";
import { anyone, type ApproverRule } from "../approval/approver-rule.ts";
import type { Migration } from "../contract/migration.ts";
import { END } from "../runlog/step.ts";
import { type Agent, stepsMaxDefault } from "./agent.ts";
import { checkAgent } from "./check-agent.ts";
import type { DurationMs } from "./duration.ts";
import type { AgentNode, State } from "./node.ts";
import type { Prompt } from "./prompt.ts";
import type { ReadTool, WriteTool } from "./tool.ts";

/** What every node sees: the input, and who turned the last attempt back, if anybody did. */
export interface BaseState<Input> {
  readonly input: Input;
  readonly rejection?: Rejection;
}

type With<S, N extends string, O> = S & { readonly [K in N]: O };
/** A name that is not taken. */
type Fresh<N extends string, Names extends string> = N extends Names | "input" | "rejection" | typeof END
  ? `node name "${N}" is taken`
  : N;
/** Targets that no node has: `.end()` then wants an argument nobody can give. */
type Missing<Targets extends string, Names extends string> = Exclude<Targets, Names | typeof END>;

interface ModelSpec<S, O> {
  readonly prompt: Prompt<S>;
  readonly output: z.ZodType<O>;
  /** Name in the deployment's model settings. Default `default`. */
  readonly model?: string;
  /** Requests in all for one answer, invalid ones included. Default 3. */
  readonly attempts?: number;
  /** Default 60 s. */
  readonly timeout?: DurationMs;
  /** Default 2,000. */
  readonly outputTokens?: number;
}

interface ReadSpec<S, Q, O> {
  readonly tool: ReadTool<Q, O>;
  readonly with: (state: S) => NoInfer<Q>;
}

interface CompensateSpec<S, O, CQ, CO> {
  /** Undoes it: a write like any other, with its own other side, budget and delivery. */
  readonly tool: WriteTool<CQ, CO>;
  /** What to ask of it. `state` is what the write saw, `result` what it came to. */
  readonly with: (state: S, result: NoInfer<O>) => NoInfer<CQ>;
}

interface WriteSpec<S, Q, O, CQ, CO> {
  readonly tool: WriteTool<Q, O>;
  readonly with: (state: S) => NoInfer<Q>;
  /** What makes two requests the same business act. Default: the digest of the semantic fields. */
  readonly businessKey?: (state: S) => string;
  /** Asked right before the claim, only while nothing may have been sent. Returns true, or why not. */
  readonly precondition?: (request: NoInfer<Q>, state: S) => Promise<true | string> | true | string;
  /** How it is undone when the run fails, is turned down or cancelled after it succeeded. Once per operation, latest first. Default: not at all. */
  readonly compensate?: CompensateSpec<S, O, CQ, CO>;
}

interface ApprovalSpec<S, Of extends string, R extends string> {
  /** The write it authorises. */
  readonly of: Of;
  /** Asked only where this is true. Default: always. */
  readonly when?: (state: S) => boolean;
  readonly show: (state: S) => ApprovalView;
  readonly validFor: DurationMs;
  /**
   * What the decision relies on beside the request, as JSON: the order's status, the limit of a policy. Read when it is asked and again right
   * before the write; where it has changed, the decision is stale. It only reads. Default: nothing.
   */
  readonly snapshot?: (state: S) => unknown;
  /** Who may decide. Default: anyone whom the API lets in, one of them, whoever asked included. */
  readonly approvers?: ApproversSpec;
  /** A rule that says yes in a person's place, recorded by its name. Never asked where the risk is high. Default: none. */
  readonly autoApprove?: { readonly when: (state: S) => boolean; readonly policy: string };
  readonly onReject: R;
  /** Where it leads when nobody decided: its time ran out, or somebody withdrew the question. Default: as `onReject`. */
  readonly onExpire?: R;
  /** Where a decision leads that no longer holds when the write is dispatched, for all reasons or by reason. Default: as `onReject`. */
  readonly onStale?: R | { readonly [Reason in StaleReason]?: R };
}

interface ApproversSpec {
  /** Roles, one of which an approver has. With `names` too, either is enough. */
  readonly roles?: readonly string[];
  /** Approvers by name, as the API knows them: an address, or an IAM user's ARN. */
  readonly names?: readonly string[];
  /** Different people who have to say yes; one no is enough. Default 1. */
  readonly quorum?: number;
  /** Whether whoever started the run may not decide. Default false. */
  readonly excludeRequester?: boolean;
}

/** Where to go instead of to the following node. */
interface Then<T extends string> {
  readonly then?: T;
}

/** Nodes before the default successor is known. */
type Draft<N extends AgentNode = AgentNode> = N extends AgentNode
  ? Omit<N, "next"> & { readonly next: string | undefined }
  : never;

/** The runtime holds callbacks over plain state; the builder's types have checked them against the outputs they read. */
const erase = <F>(callback: unknown): F => callback as F;

const ruleOf = ({ roles, names, quorum, excludeRequester }: ApproversSpec = {}): ApproverRule => ({
  roles: [...(roles ?? anyone.roles)],
  names: [...(names ?? anyone.names)],
  quorum: quorum ?? anyone.quorum,
  exclude_requester: excludeRequester ?? anyone.exclude_requester,
});

const timeoutMsDefault = 60_000;
const attemptsDefault = 3;
const outputTokensDefault = 2_000;

/**
 * Builds an agent node by node. `S` is what the next node sees, `Names` the nodes so far, `Targets` every name that something leads to.
 * Immutable: each call returns a new builder.
 */
class AgentBuilder<S, Names extends string, Targets extends string> {
  readonly #head: Omit<Agent, "nodes">;
  readonly #drafts: readonly Draft[];

  constructor(head: Omit<Agent, "nodes">, drafts: readonly Draft[]) {
    this.#head = head;
    this.#drafts = drafts;
  }

  #add<S2, N extends string, T extends string>(draft: Draft): AgentBuilder<S2, N, T> {
    return new AgentBuilder<S2, N, T>(this.#head, [...this.#drafts, draft]);
  }

  /** Asks a model; the answer is parsed by `output`, recorded, and never asked again. */
  model<N extends string, O, T extends string = never>(
    name: Fresh<N, Names> & N,
    spec: ModelSpec<S, O> & Then<T>,
  ): AgentBuilder<With<S, N, O>, Names | N, Targets | T> {
    return this.#add({
      kind: "model",
      name,
      next: spec.then,
      prompt: erase<Prompt<State>>(spec.prompt),
      output: spec.output,
      model: spec.model ?? "default",
      attemptsMax: spec.attempts ?? attemptsDefault,
      timeoutMs: spec.timeout ?? timeoutMsDefault,
      outputTokensMax: spec.outputTokens ?? outputTokensDefault,
    });
  }

  /** Calls a tool that changes nothing outside. */
  read<N extends string, Q, O, T extends string = never>(
    name: Fresh<N, Names> & N,
    spec: ReadSpec<S, Q, O> & Then<T>,
  ): AgentBuilder<With<S, N, O>, Names | N, Targets | T> {
    return this.#add({ kind: "read", name, next: spec.then, tool: erase(spec.tool), request: erase(spec.with) });
  }

  /** Calls a tool that changes something outside, once, through the ledger. */
  write<N extends string, Q, O, CQ, CO, T extends string = never>(
    name: Fresh<N, Names> & N,
    spec: WriteSpec<S, Q, O, CQ, CO> & Then<T>,
  ): AgentBuilder<With<S, N, O>, Names | N, Targets | T> {
    return this.#add({
      kind: "write",
      name,
      next: spec.then,
      tool: erase(spec.tool),
      request: erase(spec.with),
      businessKey: erase(spec.businessKey),
      precondition: erase(spec.precondition),
      compensate: spec.compensate && { tool: erase(spec.compensate.tool), request: erase(spec.compensate.with) },
    });
  }

  /** Waits for a person to approve exactly the request that the write would send. */
  approval<N extends string, Of extends string, R extends string, T extends string = never>(
    name: Fresh<N, Names> & N,
    spec: ApprovalSpec<S, Of, R> & Then<T>,
  ): AgentBuilder<With<S, N, ApprovalOutcome>, Names | N, Targets | Of | R | T> {
    return this.#add({
      kind: "approval",
      name,
      next: spec.then,
      of: spec.of,
      when: erase(spec.when),
      show: erase(spec.show),
      validForMs: spec.validFor,
      snapshot: erase(spec.snapshot),
      approvers: ruleOf(spec.approvers),
      autoApprove: spec.autoApprove && { policy: spec.autoApprove.policy, when: erase(spec.autoApprove.when) },
      onReject: spec.onReject,
      onExpire: spec.onExpire ?? spec.onReject,
      onStale: typeof spec.onStale === "string" ? spec.onStale : spec.onReject,
      onStaleFor: typeof spec.onStale === "object" ? spec.onStale : {},
    });
  }

  /** Runs pure code on what is recorded. Its result is recorded too. */
  compute<N extends string, O, T extends string = never>(
    name: Fresh<N, Names> & N,
    spec: { readonly output: z.ZodType<O>; readonly run: (state: S) => NoInfer<O> } & Then<T>,
  ): AgentBuilder<With<S, N, O>, Names | N, Targets | T> {
    return this.#add({ kind: "compute", name, next: spec.then, output: spec.output, run: erase(spec.run) });
  }

  /** Chooses where to go. The choice is recorded and never made again. */
  route<N extends string, const To extends readonly string[]>(
    name: Fresh<N, Names> & N,
    spec: { readonly to: To; readonly choose: (state: S) => To[number] },
  ): AgentBuilder<S, Names | N, Targets | To[number]> {
    return this.#add({ kind: "route", name, next: END, to: spec.to, choose: erase(spec.choose) });
  }

  /**
   * Ends the definition and checks it as a whole.
   * @throws AgentDefinitionError naming the node: unknown targets, unreachable nodes, cycles without exit, schemas that JSON cannot carry.
   */
  end(
    ..._check: [Missing<Targets, Names>] extends [never] ? [] : [error: `no node named "${Missing<Targets, Names>}"`]
  ): Agent {
    const nodes = this.#drafts.map((draft, index): AgentNode => ({
      ...draft,
      next: draft.next ?? this.#drafts[index + 1]?.name ?? END,
    }));
    const agent: Agent = { ...this.#head, nodes };
    checkAgent(agent);
    return agent;
  }
}

export type { AgentBuilder };

/** Starts the definition of an agent. `name` is `[a-z][a-z0-9-]*`, at most 40 characters. */
export const defineAgent = <I>(
  name: string,
  options: {
    readonly version: number;
    readonly input: z.ZodType<I>;
    readonly stepsMax?: number;
    /** How runs of earlier versions go on under this one. Default: they do not; each version ends its own runs. */
    readonly migrations?: readonly Migration[];
  },
): AgentBuilder<BaseState<I>, never, never> =>
  new AgentBuilder<BaseState<I>, never, never>(
    {
      name,
      version: options.version,
      input: options.input,
      stepsMax: options.stepsMax ?? stepsMaxDefault,
      ...(options.migrations && { migrations: options.migrations }),
    },
    [],
  );
