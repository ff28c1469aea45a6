import { z } from "zod";
import type { Agent } from "../agent/agent.ts";
import { type AgentNode, successorsOf } from "../agent/node.ts";
import type { ReadTool, WriteTool } from "../agent/tool.ts";
import { digestOf } from "../operation/canonical-json.ts";

/** Version of the shape in which steps are stored. */
export const checkpointSchemaVersion = 1;

/** One node's part of the contract. */
export interface NodeContract {
  readonly name: string;
  readonly kind: AgentNode["kind"];
  readonly leads_to: readonly string[];
  /** What makes its recorded results its own: everything about the node but where it leads. */
  readonly fingerprint: string;
}

/** Everything a run relies on, canonical and diffable. Digests ignore descriptions, key order and formatting. */
export interface Manifest {
  readonly workflow_name: string;
  readonly workflow_version: number;
  readonly checkpoint_schema_version: number;
  readonly input_digest: string;
  readonly nodes: readonly NodeContract[];
  readonly tools: readonly { readonly name: string; readonly version: number; readonly digest: string }[];
  readonly prompts: readonly { readonly name: string; readonly release: number; readonly digest: string }[];
}

export function manifestOf(agent: Agent): Manifest {
  const tools = new Map<string, Manifest["tools"][number]>();
  const prompts = new Map<string, Manifest["prompts"][number]>();
  for (const node of agent.nodes) {
    if (node.kind === "read" || node.kind === "write") {
      tools.set(node.tool.name, { name: node.tool.name, version: node.tool.version, digest: toolDigest(node.tool) });
    }
    if (node.kind === "model") {
      prompts.set(node.prompt.name, {
        name: node.prompt.name,
        release: node.prompt.release,
        digest: promptDigest(node.prompt),
      });
    }
  }
  const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);
  return {
    workflow_name: agent.name,
    workflow_version: agent.version,
    checkpoint_schema_version: checkpointSchemaVersion,
    input_digest: schemaDigest(agent.input),
    nodes: agent.nodes.map((node) => ({
      name: node.name,
      kind: node.kind,
      leads_to: successorsOf(node),
      fingerprint: fingerprintOf(node),
    })),
    tools: [...tools.values()].sort(byName),
    prompts: [...prompts.values()].sort(byName),
  };
}

/** Digest of the whole manifest. Stored with every run. */
export const contractDigest = (agent: Agent): string => digestOf(manifestOf(agent));

/** Digest of what a node's recorded results depend on, 16 hex characters. */
export const fingerprintOf = (node: AgentNode): string =>
  digestOf({ name: node.name, kind: node.kind, ...essence(node) }).slice(0, 16);

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

const promptDigest = (prompt: { readonly name: string; readonly text: string }): string =>
  digestOf({ name: prompt.name, text: prompt.text.trim().replaceAll(/\s+/gu, " ") });

const toolDigest = (tool: ReadTool<unknown> | WriteTool<unknown>): string =>
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

const schemaDigest = (schema: z.ZodType): string => digestOf(meaningOf(z.toJSONSchema(schema, { io: "output" })));

/** Words for people inside a JSON schema: they change nothing. */
const decoration = new Set(["description", "title", "examples", "$schema", "$comment"]);
/** Keywords whose keys are names of fields, which may well be called `description`. */
const namedSchemas = new Set(["properties", "patternProperties", "$defs"]);
/** Keywords that hold values, not schemas. */
const values = new Set(["default", "const", "enum"]);

/** A JSON schema without what changes nothing: decoration, and the order in which fields were written. */
function meaningOf(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(meaningOf);
  if (typeof schema !== "object" || schema === null) return schema;
  const keywords = Object.entries(schema).filter(([keyword]) => !decoration.has(keyword));
  return Object.fromEntries(keywords.map(([keyword, value]) => [keyword, meaningOfKeyword(keyword, value)]));
}

function meaningOfKeyword(keyword: string, value: unknown): unknown {
  if (values.has(keyword)) return value;
  if (keyword === "required" && Array.isArray(value)) return [...(value as readonly string[])].sort();
  if (!namedSchemas.has(keyword) || typeof value !== "object" || value === null) return meaningOf(value);
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, meaningOf(schema)]));
}
