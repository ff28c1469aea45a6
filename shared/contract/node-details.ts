import { compensationOf } from "../agent/compensation.ts";
import type { AgentNode } from "../agent/node.ts";
import type { Downstream, ReadTool, WriteTool } from "../agent/tool.ts";
import { anyone, type ApproverRule } from "../approval/approver-rule.ts";
import { fingerprintOf, promptDigest } from "./fingerprint.ts";
import { schemaDigest } from "./schema-digest.ts";

/** One thing that a contract says about a node or a tool. What is undefined, false or the default is left out, so that a manifest from before a detail existed says the same. */
export type Detail = string | number | boolean | readonly string[];

/**
 * Callbacks are in the contract by their presence, never by their text: bundlers rename and rewrite it. Whoever changes what one does raises
 * `version`; the recorded runs in `test/replay` show a changed outcome.
 */
export interface NodeDetails {
  readonly prompt?: string;
  readonly prompt_text?: string;
  readonly model?: string;
  readonly attempts_max?: number;
  readonly timeout_ms?: number;
  readonly output_tokens_max?: number;
  readonly output?: string;
  /** `name@version`, found under the manifest's tools. */
  readonly tool?: string;
  readonly business_key?: boolean;
  readonly precondition?: boolean;
  /** The tool that undoes it. */
  readonly compensation?: string;
  /** Fingerprint of the records of its undoing. */
  readonly compensation_record?: string;
  readonly of?: string;
  readonly only_when?: boolean;
  readonly valid_for_ms?: number;
  readonly snapshot?: boolean;
  readonly approver_roles?: readonly string[];
  readonly approver_names?: readonly string[];
  readonly quorum?: number;
  readonly excludes_requester?: boolean;
  /** Name of the policy that may decide in a person's place. */
  readonly auto_approve?: string;
}

export interface ToolDetails {
  readonly risk?: string;
  readonly scope?: string;
  readonly semantic_fields?: readonly string[];
  readonly capability?: string;
  readonly window_ms?: number;
  readonly settle_ms?: number;
  readonly lookup?: boolean;
  readonly delivery?: string;
  readonly external_ref?: boolean;
  readonly result_of?: boolean;
  readonly classify?: boolean;
  readonly attempts_max?: number;
  readonly timeout_ms?: number;
}

/**
 * For whom a change matters:
 * - `record`: whoever has the node's result recorded. These are in its fingerprint.
 * - `question`: whoever was asked, and has not acted on the answer yet.
 * - `operation`: whoever has begun the operation, and not finished it.
 * - `ahead`: nobody. It counts from the next time the node runs.
 */
export type MattersTo = "record" | "question" | "operation" | "ahead";

export const nodeDetailMatters: { readonly [D in keyof NodeDetails]-?: MattersTo } = {
  prompt: "record",
  prompt_text: "record",
  model: "record",
  attempts_max: "ahead",
  timeout_ms: "ahead",
  output_tokens_max: "ahead",
  output: "record",
  tool: "record",
  business_key: "record",
  precondition: "ahead",
  // What is recorded stays what it is; how it is undone counts when it is.
  compensation: "ahead",
  compensation_record: "record",
  of: "record",
  only_when: "ahead",
  // Who was asked has the time that they were told.
  valid_for_ms: "ahead",
  snapshot: "question",
  approver_roles: "question",
  approver_names: "question",
  quorum: "question",
  excludes_requester: "question",
  // Whoever was asked already is a person.
  auto_approve: "ahead",
};

export const toolDetailMatters: { readonly [D in keyof ToolDetails]-?: MattersTo } = {
  risk: "record",
  scope: "record",
  semantic_fields: "record",
  capability: "record",
  window_ms: "ahead",
  settle_ms: "ahead",
  lookup: "ahead",
  // Whoever handed it out waits for that hand.
  delivery: "operation",
  external_ref: "ahead",
  result_of: "ahead",
  classify: "ahead",
  attempts_max: "ahead",
  timeout_ms: "ahead",
};

/** A field that nobody has decided about does not compile: say it as a detail, or name it here and leave it out. */
const decided = (_rest: Readonly<Record<string, never>>): void => undefined;

/** What the contract says about a node beside its name, kind, edges and fingerprint. Each field of a node is decided here. */
export function nodeDetails(node: AgentNode): NodeDetails {
  switch (node.kind) {
    case "model": {
      const { kind, name, next, prompt, output, model, attemptsMax, timeoutMs, outputTokensMax, ...rest } = node;
      decided(rest);
      return {
        prompt: prompt.name,
        prompt_text: short(promptDigest(prompt)),
        model,
        output: short(schemaDigest(output)),
        attempts_max: attemptsMax,
        timeout_ms: timeoutMs,
        output_tokens_max: outputTokensMax,
      };
    }
    case "read": {
      const { kind, name, next, request, tool, ...rest } = node;
      decided(rest);
      return { tool: toolName(tool) };
    }
    case "write": {
      const { kind, name, next, request, tool, businessKey, precondition, compensate, ...rest } = node;
      decided(rest);
      return {
        tool: toolName(tool),
        ...(businessKey && { business_key: true }),
        ...(precondition && { precondition: true }),
        ...(compensate && {
          compensation: toolName(compensate.tool),
          compensation_record: fingerprintOf(compensationOf({ ...node, compensate })),
        }),
      };
    }
    case "approval": {
      const { kind, name, next, onReject, onExpire, onStale, onStaleFor, show, ...question } = node;
      const { of, when, validForMs, snapshot, approvers, autoApprove, ...rest } = question;
      decided(rest);
      return {
        of,
        ...(when && { only_when: true }),
        valid_for_ms: validForMs,
        ...(snapshot && { snapshot: true }),
        ...approverDetails(approvers),
        ...(autoApprove && { auto_approve: autoApprove.policy }),
      };
    }
    case "compute": {
      const { kind, name, next, run, output, ...rest } = node;
      decided(rest);
      return { output: short(schemaDigest(output)) };
    }
    case "route": {
      const { kind, name, next, to, choose, ...rest } = node;
      decided(rest);
      return {};
    }
    default:
      return node satisfies never;
  }
}

function approverDetails({ roles, names, quorum, exclude_requester, ...rest }: ApproverRule): NodeDetails {
  decided(rest);
  return {
    ...(roles.length > 0 && { approver_roles: [...roles].sort() }),
    ...(names.length > 0 && { approver_names: [...names].sort() }),
    ...(quorum !== anyone.quorum && { quorum }),
    ...(exclude_requester && { excludes_requester: true }),
  };
}

/** What the contract says about a tool beside its name, version, effect, schemas and digest. */
export function toolDetails(tool: ReadTool<unknown> | WriteTool<unknown>): ToolDetails {
  const limits = {
    attempts_max: tool.attemptsMax,
    timeout_ms: tool.timeoutMs,
    ...(tool.classify && { classify: true }),
  };
  if (tool.effect === "read") {
    const { name, version, effect, input, output, timeoutMs, attemptsMax, classify, execute, ...rest } = tool;
    decided(rest);
    return limits;
  }
  const { name, version, effect, input, output, timeoutMs, attemptsMax, classify, execute, ...write } = tool;
  const { risk, scope, semanticFields, downstream, externalRef, resultOf, ...rest } = write;
  decided(rest);
  return {
    risk,
    scope,
    semantic_fields: [...semanticFields].sort(),
    ...downstreamDetails(downstream),
    ...(externalRef && { external_ref: true }),
    ...(resultOf && { result_of: true }),
    ...limits,
  };
}

function downstreamDetails(downstream: Downstream<unknown>): ToolDetails {
  switch (downstream.by) {
    case "key": {
      const { by, windowMs, settleMs, lookup, ...rest } = downstream;
      decided(rest);
      return { capability: by, window_ms: windowMs, settle_ms: settleMs, ...(lookup && { lookup: true }) };
    }
    case "query": {
      const { by, settleMs, lookup, ...rest } = downstream;
      decided(rest);
      return { capability: by, settle_ms: settleMs, lookup: true };
    }
    case "none": {
      const { by, delivery, ...rest } = downstream;
      decided(rest);
      return { capability: by, ...(delivery !== "direct" && { delivery }) };
    }
    default:
      return downstream satisfies never;
  }
}

export const toolName = ({ name, version }: { readonly name: string; readonly version: number }): string =>
  `${name}@${version}`;

/** A digest as manifests show it: enough to tell any two apart, short enough to read. */
export const short = (digest: string): string => digest.slice(0, 16);
