import { z } from "zod";
import type { Agent } from "../agent/agent.ts";
import { firstNode } from "../agent/agent.ts";
import { type AgentNode, type ApprovalNode, successorsOf } from "../agent/node.ts";
import type { ReadTool, WriteTool } from "../agent/tool.ts";
import { canonicalJson, digestOf } from "../operation/canonical-json.ts";
import { checkpointSchemaVersion } from "./checkpoint-schema.ts";
import { fingerprintOf, promptDigest, toolDigest } from "./fingerprint.ts";
import { nodeDetails, short, toolDetails } from "./node-details.ts";
import { type SchemaMeaning, schemaDigest, schemaMeaning } from "./schema-digest.ts";

export { checkpointSchemaVersion } from "./checkpoint-schema.ts";
export { fingerprintOf } from "./fingerprint.ts";

/** Details are read as they were written, whatever version wrote them: comparing decides what they mean. */
const Details = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));
export type Details = z.infer<typeof Details>;

/** Where each answer of an approval leads. */
const AnswerRoutes = z.object({
  approved: z.string(),
  rejected: z.string(),
  expired: z.string(),
  stale: z.string(),
  /** By reason, where it leads elsewhere. */
  stale_for: z.record(z.string(), z.string()).optional(),
});
export type AnswerRoutes = z.infer<typeof AnswerRoutes>;

/** One node's part of the contract. */
export const NodeContract = z.object({
  name: z.string(),
  kind: z.string(),
  leads_to: z.array(z.string()),
  answers: AnswerRoutes.optional(),
  /** What makes its recorded results its own. */
  fingerprint: z.string(),
  details: Details,
});
export type NodeContract = z.infer<typeof NodeContract>;

export const ToolContract = z.object({
  name: z.string(),
  version: z.number(),
  effect: z.string(),
  digest: z.string(),
  input: z.string(),
  output: z.string(),
  details: Details,
});
export type ToolContract = z.infer<typeof ToolContract>;

/**
 * Everything a run relies on, as plain JSON that a person can read and compare. Digests ignore descriptions, key order and formatting; each
 * schema digest is resolved under `schemas`. It says nothing about a deployment: a model is a name there, and which provider's model stands
 * behind it may change without touching what is recorded.
 */
export const Manifest = z.object({
  workflow_name: z.string(),
  workflow_version: z.number().int(),
  checkpoint_schema_version: z.number().int(),
  /** These three are digests of the lists below: one value to compare, and a value that a list has only once. */
  tool_catalog_version: z.string(),
  prompt_release: z.string(),
  model_policy_version: z.string(),
  input: z.string(),
  entry: z.string(),
  steps_max: z.number(),
  nodes: z.array(NodeContract),
  tools: z.array(ToolContract),
  prompts: z.array(z.object({ name: z.string(), release: z.number(), digest: z.string() })),
  models: z.array(z.object({ name: z.string(), asked_by: z.array(z.string()) })),
  migrations: z
    .array(
      z.object({
        from: z.number(),
        to: z.number(),
        reapprove: z.boolean().optional(),
        resume_at: z.record(z.string(), z.string()).optional(),
      }),
    )
    .optional(),
  schemas: z.record(z.string(), z.record(z.string(), z.unknown())),
});
export type Manifest = z.infer<typeof Manifest>;

/** The contract of an agent. The same definition gives the same manifest in every process, bundled or not. */
export function manifestOf(agent: Agent): Manifest {
  const known = manifests.get(agent);
  if (known) return known;
  const manifest = compileManifest(agent);
  manifests.set(agent, manifest);
  return manifest;
}

/** An agent never changes, and every start asks. */
const manifests = new WeakMap<Agent, Manifest>();

/** Digest of the whole manifest, 64 hex characters. Stored with every run. */
export const contractDigest = (agent: Agent): string => manifestDigest(manifestOf(agent));

export const manifestDigest = (manifest: Manifest): string => digestOf(manifest);

/** As it is committed: two spaces, one member a line, so that a review shows what changed. */
export const manifestText = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`;

function compileManifest(agent: Agent): Manifest {
  const schemas = schemasOf(agent);
  const tools = unique(toolsOf(agent).map(toolContract));
  const prompts = unique(promptsOf(agent));
  const models = modelsOf(agent);
  const nodes = agent.nodes.map(nodeContract);
  return {
    workflow_name: agent.name,
    workflow_version: agent.version,
    checkpoint_schema_version: checkpointSchemaVersion,
    tool_catalog_version: short(digestOf(tools)),
    prompt_release: short(digestOf(prompts)),
    model_policy_version: short(
      digestOf(models.map((model) => ({ ...model, limits: limitsOf(model.asked_by, nodes) }))),
    ),
    input: short(schemaDigest(agent.input)),
    entry: firstNode(agent).name,
    steps_max: agent.stepsMax,
    nodes,
    tools,
    prompts,
    models,
    ...migrationsOf(agent),
    schemas,
  };
}

function nodeContract(node: AgentNode): NodeContract {
  return {
    name: node.name,
    kind: node.kind,
    leads_to: [...successorsOf(node)],
    ...(node.kind === "approval" && {
      answers: answersOf(node),
    }),
    fingerprint: fingerprintOf(node),
    details: plain(nodeDetails(node)),
  };
}

const answersOf = (node: ApprovalNode): AnswerRoutes => ({
  approved: node.next,
  rejected: node.onReject,
  expired: node.onExpire,
  stale: node.onStale,
  ...(Object.keys(node.onStaleFor).length > 0 && { stale_for: { ...node.onStaleFor } }),
});

const toolContract = (tool: Tool): ToolContract => ({
  name: tool.name,
  version: tool.version,
  effect: tool.effect,
  digest: short(toolDigest(tool)),
  input: short(schemaDigest(tool.input)),
  output: short(schemaDigest(tool.output)),
  details: plain(toolDetails(tool)),
});

type Tool = ReadTool<unknown> | WriteTool<unknown>;

/** The same as JSON. */
const plain = (details: object): Details => JSON.parse(canonicalJson(details)) as Details;

function toolsOf(agent: Agent): readonly Tool[] {
  return agent.nodes.flatMap((node): readonly Tool[] => {
    if (node.kind === "read") return [node.tool];
    if (node.kind !== "write") return [];
    return node.compensate ? [node.tool, node.compensate.tool] : [node.tool];
  });
}

const promptsOf = (agent: Agent) =>
  agent.nodes.flatMap((node) =>
    node.kind === "model"
      ? [{ name: node.prompt.name, release: node.prompt.release, digest: short(promptDigest(node.prompt)) }]
      : [],
  );

function modelsOf(agent: Agent): Manifest["models"] {
  const asked = agent.nodes.filter((node) => node.kind === "model");
  const names = [...new Set(asked.map((node) => node.model))].sort();
  return names.map((name) => ({
    name,
    asked_by: asked.filter((node) => node.model === name).map((node) => node.name),
  }));
}

/** Attempts, tokens and time are part of a model policy. */
const limitsOf = (asked: readonly string[], nodes: readonly NodeContract[]) =>
  nodes
    .filter((node) => asked.includes(node.name))
    .map(({ details }) => [details["attempts_max"], details["timeout_ms"], details["output_tokens_max"]]);

function migrationsOf(agent: Agent): Pick<Manifest, "migrations"> {
  if (!agent.migrations || agent.migrations.length === 0) return {};
  return {
    migrations: agent.migrations.map(({ from, to, reapprove, resumeAt }) => ({
      from,
      to,
      ...(reapprove && { reapprove }),
      ...(resumeAt && { resume_at: { ...resumeAt } }),
    })),
  };
}

function schemasOf(agent: Agent): Record<string, SchemaMeaning> {
  const outputs = agent.nodes.flatMap((node) =>
    node.kind === "model" || node.kind === "compute" ? [node.output] : [],
  );
  const all = [agent.input, ...outputs, ...toolsOf(agent).flatMap((tool) => [tool.input, tool.output])];
  const entries = all.map((schema) => [short(schemaDigest(schema)), sorted(schemaMeaning(schema))] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Keys in order, so that writing the fields in another order changes no line. */
const sorted = (meaning: SchemaMeaning): SchemaMeaning => JSON.parse(canonicalJson(meaning)) as SchemaMeaning;

/** By name and version, each content once. */
function unique<T extends { readonly name: string; readonly digest: string }>(entries: readonly T[]): T[] {
  const key = (entry: T) => canonicalJson(entry);
  const once = [...new Map(entries.map((entry) => [key(entry), entry])).values()];
  return once.sort((a, b) => (a.name === b.name ? key(a).localeCompare(key(b)) : a.name < b.name ? -1 : 1));
}
