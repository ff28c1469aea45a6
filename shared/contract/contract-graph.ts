import { END } from "../runlog/step.ts";
import type { Manifest, NodeContract } from "./manifest.ts";

export const contractNode = (manifest: Manifest, name: string): NodeContract | undefined =>
  manifest.nodes.find((node) => node.name === name);

/** A raised release says that the prompt means something else, also where its words are the same: decisions are bound to it. */
export function promptReleaseOf(manifest: Manifest, name: string): number | undefined {
  const details = contractNode(manifest, name)?.details;
  const asked = manifest.prompts.find(
    (prompt) => prompt.name === details?.["prompt"] && prompt.digest === details["prompt_text"],
  );
  return asked?.release;
}

/** Every place a node's record may lead to: its edges, and for a write where a decision on it leads that went stale. */
export function targetsOf(manifest: Manifest, name: string): readonly string[] {
  const stale = manifest.nodes
    .filter((node) => node.answers !== undefined && node.details["of"] === name)
    .flatMap(({ answers }) => [answers?.stale ?? END, ...Object.values(answers?.stale_for ?? {})]);
  return [...new Set([...(contractNode(manifest, name)?.leads_to ?? []), ...stale])];
}

/** Nodes on the way from `from`, itself included, that are come to without passing one of `avoiding`. */
export function reachable(manifest: Manifest, from: string, avoiding: readonly string[] = []): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [from];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (reached.has(name) || avoiding.includes(name) || !contractNode(manifest, name)) continue;
    reached.add(name);
    open.push(...targetsOf(manifest, name));
  }
  return reached;
}

/** Nodes that a run may have passed when it comes to `name` for the first time. */
function passedBefore(manifest: Manifest, name: string): readonly string[] {
  const started = reachable(manifest, manifest.entry, [name]);
  return [...started].filter((node) => leadsTo(manifest, node, name));
}

/** The edges of every way by which a run may come to `name` for the first time, without going in a round. */
export function edgesBefore(
  manifest: Manifest,
  name: string,
): readonly { readonly from: string; readonly to: string }[] {
  const before = passedBefore(manifest, name);
  return before.flatMap((from) =>
    targetsOf(manifest, from)
      .filter((to) => to === name || before.includes(to))
      .filter((to) => reachable(manifest, manifest.entry, [name, to]).has(from))
      .map((to) => ({ from, to })),
  );
}

/** Whether a run that has left `from` may come to `to`. */
export const leadsTo = (manifest: Manifest, from: string, to: string): boolean =>
  targetsOf(manifest, from).some((target) => target === to || reachable(manifest, target).has(to));

/** What an approval lets a run do: the nodes between its yes and the write it authorises. */
export interface Authorised {
  readonly write: string;
  /** In order of definition. The write itself is not among them. */
  readonly between: readonly string[];
  /** Their kinds and edges as one text to compare. */
  readonly shape: string;
}

export function authorisedBy(manifest: Manifest, approval: NodeContract): Authorised {
  const write = String(approval.details["of"] ?? "");
  const yes = approval.answers?.approved ?? END;
  const ahead = reachable(manifest, yes, [approval.name, write]);
  const inside = (name: string) => name === write || ahead.has(name);
  const between = manifest.nodes
    .filter(({ name }) => ahead.has(name))
    .filter(({ name }) => reachable(manifest, name, [approval.name]).has(write));
  const names = between.map(({ name }) => name);
  const edges = between.map(({ name, kind }) => {
    const targets = targetsOf(manifest, name).filter(inside);
    return `${name}:${kind}>${[...targets].sort().join("|")}`;
  });
  return { write, between: names, shape: [yes, ...edges.sort()].join(" ") };
}

/** Nodes that `current` has and `recorded` has not, on the way from one node to another. `from` is `undefined` for the start. */
export function insertedBetween(
  recorded: Manifest,
  current: Manifest,
  from: string | undefined,
  to: string,
): readonly string[] {
  const starts = from === undefined ? [current.entry] : targetsOf(current, from);
  const old = recorded.nodes.map(({ name }) => name);
  const inserted = starts.flatMap((start) => [...reachable(current, start, old)]);
  return [...new Set(inserted)].filter((name) => leadsTo(current, name, to));
}
