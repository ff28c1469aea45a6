import { contractNode, insertedBetween, promptReleaseOf, targetsOf } from "./contract-graph.ts";
import { detailChanges, schemaChange } from "./detail-changes.ts";
import type { Manifest, NodeContract, ToolContract } from "./manifest.ts";

/** What changed about one node, or about the workflow as a whole (`node` is undefined). */
export interface ContractChange {
  readonly node: string | undefined;
  /** A sentence each, e.g. `kind: model → compute`. */
  readonly what: readonly string[];
}

/** Everything in which two contracts differ, whether it matters to anybody or not, in order of definition. */
export function contractChanges(recorded: Manifest, current: Manifest): readonly ContractChange[] {
  const removed = recorded.nodes.filter(({ name }) => !contractNode(current, name)).map(({ name }) => name);
  const names = [...current.nodes.map(({ name }) => name), ...removed];
  const changes: ContractChange[] = [
    { node: undefined, what: workflowChanges(recorded, current) },
    ...names.map((node) => ({ node, what: nodeChanges(recorded, current, node) })),
  ];
  return changes.filter(({ what }) => what.length > 0);
}

function workflowChanges(recorded: Manifest, current: Manifest): readonly string[] {
  const plain = (["workflow_name", "checkpoint_schema_version", "entry", "steps_max"] as const)
    .filter((name) => recorded[name] !== current[name])
    .map((name) => `${name.replaceAll("_", " ")}: ${recorded[name]} → ${current[name]}`);
  const migrations =
    JSON.stringify(recorded.migrations) === JSON.stringify(current.migrations) ? [] : ["the migrations changed"];
  return [...plain, ...schemaChange("input", recorded.input, current.input, recorded, current), ...migrations];
}

function nodeChanges(recorded: Manifest, current: Manifest, name: string): readonly string[] {
  const [was, now] = [contractNode(recorded, name), contractNode(current, name)];
  if (!now) return ["was removed"];
  if (!was) return [placeOf(recorded, current, now)];
  const kind = was.kind === now.kind ? [] : [`kind: ${was.kind} → ${now.kind}`];
  return [
    ...kind,
    ...edgeChanges(was, now),
    ...detailChanges(was.details, now.details, recorded, current),
    ...releaseChanges(promptReleaseOf(recorded, name), promptReleaseOf(current, name)),
    ...toolChanges(recorded, current, was, now),
  ];
}

/** `was inserted between approval and payment`, where it stands in the place of an edge. */
function placeOf(recorded: Manifest, current: Manifest, added: NodeContract): string {
  const froms = [undefined, ...recorded.nodes.map(({ name }) => name)];
  for (const from of froms) {
    const targets = from === undefined ? [recorded.entry] : targetsOf(recorded, from);
    const to = targets.find((target) => insertedBetween(recorded, current, from, target).includes(added.name));
    if (to === undefined) continue;
    return from === undefined ? `was inserted before ${to}` : `was inserted between ${from} and ${to}`;
  }
  return `was added (${added.kind})`;
}

function edgeChanges(was: NodeContract, now: NodeContract): readonly string[] {
  if (was.answers && now.answers) {
    const [before, after] = [flat(was.answers), flat(now.answers)];
    return [...new Set([...Object.keys(before), ...Object.keys(after)])]
      .filter((answer) => before[answer] !== after[answer])
      .map(
        (answer) =>
          `${answer} leads to ${after[answer] ?? "the same as stale"}, before to ${before[answer] ?? "the same as stale"}`,
      );
  }
  const gone = was.leads_to.filter((target) => !now.leads_to.includes(target));
  const come = now.leads_to.filter((target) => !was.leads_to.includes(target));
  if (gone.length + come.length === 0) return [];
  return [`leads to ${now.leads_to.join(", ")}, before to ${was.leads_to.join(", ")}`];
}

const flat = ({ stale_for, ...answers }: NonNullable<NodeContract["answers"]>): Record<string, string> => ({
  ...answers,
  ...Object.fromEntries(Object.entries(stale_for ?? {}).map(([reason, to]) => [`stale (${reason})`, to])),
});

const releaseChanges = (was: number | undefined, now: number | undefined): readonly string[] =>
  was === undefined || now === undefined || was === now ? [] : [`the prompt's release: ${was} → ${now}`];

/** Also where its version is the same: a changed promise under an old version is the most surprising one. */
function toolChanges(recorded: Manifest, current: Manifest, was: NodeContract, now: NodeContract): readonly string[] {
  const [before, after] = [toolOf(recorded, was), toolOf(current, now)];
  if (!before || !after) return [];
  return [
    ...schemaChange("the tool's input", before.input, after.input, recorded, current),
    ...schemaChange("the tool's output", before.output, after.output, recorded, current),
    ...detailChanges(before.details, after.details, recorded, current).map((change) => `the tool's ${change}`),
  ];
}

export const toolOf = (manifest: Manifest, node: NodeContract | undefined): ToolContract | undefined =>
  manifest.tools.find((tool) => `${tool.name}@${tool.version}` === node?.details["tool"]);
