import type { AgentNode } from "../agent/node.ts";
import type { ReadTool, WriteTool } from "../agent/tool.ts";
import { digestOf } from "../operation/canonical-json.ts";
import { schemaDigest } from "./schema-digest.ts";

/**
 * Digest of what a node's recorded results depend on, 16 hex characters: a record is reused only by a node with the same one. Runs in
 * flight hold these very values, so what goes in never changes; whatever else matters about a node is a detail of the manifest.
 */
export function fingerprintOf(node: AgentNode): string {
  const known = fingerprints.get(node);
  if (known !== undefined) return known;
  const fingerprint = digestOf({ name: node.name, kind: node.kind, ...essence(node) }).slice(0, 16);
  fingerprints.set(node, fingerprint);
  return fingerprint;
}

/** A node never changes, and every step that is reused asks. */
const fingerprints = new WeakMap<AgentNode, string>();

function essence(node: AgentNode): Record<string, unknown> {
  switch (node.kind) {
    case "model":
      return { output: schemaDigest(node.output), prompt: promptDigest(node.prompt), model: node.model };
    case "read":
      return { tool: toolDigest(node.tool) };
    case "write":
      return { tool: toolDigest(node.tool), keyed: node.businessKey !== undefined };
    case "approval":
      return { of: node.of };
    case "compute":
      return { output: schemaDigest(node.output) };
    case "route":
      return {};
    default:
      return node satisfies never;
  }
}

/** Digest of a prompt's name and words. Formatting and the release number make no difference. */
export const promptDigest = (prompt: { readonly name: string; readonly text: string }): string =>
  digestOf({ name: prompt.name, text: prompt.text.trim().replaceAll(/\s+/gu, " ") });

/** Digest of what a tool promises. How long it may take and how often it is tried make no difference. */
export const toolDigest = (tool: ReadTool<unknown> | WriteTool<unknown>): string =>
  digestOf({
    name: tool.name,
    version: tool.version,
    effect: tool.effect,
    input: schemaDigest(tool.input),
    output: schemaDigest(tool.output),
    ...(tool.effect === "write" && {
      capability: tool.downstream.by,
      semantic_fields: [...tool.semanticFields].sort(),
      scope: tool.scope,
      risk: tool.risk,
    }),
  });
