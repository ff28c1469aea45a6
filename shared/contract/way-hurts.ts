import { END } from "../runlog/step.ts";
import { contractNode, insertedBetween, targetsOf } from "./contract-graph.ts";
import type { Hurt } from "./hurt.ts";
import type { Manifest } from "./manifest.ts";
import { type Edge, START, type Foothold } from "./foothold.ts";

/** The way that a run has come must be one that this version could have led it: else it has skipped something, or did what is not done any more. */
export function wayHurts(recorded: Manifest, current: Manifest, foothold: Foothold): readonly Hurt[] {
  const hurts = foothold.edges.map((edge) => wayHurt(recorded, current, foothold, edge));
  return hurts.filter((hurt) => hurt !== undefined);
}

function wayHurt(recorded: Manifest, current: Manifest, foothold: Foothold, { from, to }: Edge): Hurt | undefined {
  const starts = from === START;
  const leads = starts ? current.entry === to : targetsOf(current, from).includes(to);
  // Where a run has come to its end, nothing is left to skip.
  if (leads || to === END) return undefined;
  // Where its result is recorded, that record is looked at.
  if (!starts && !contractNode(current, from)) return undefined;
  if (!contractNode(current, to)) {
    if (to !== foothold.node) return undefined;
    return {
      node: to,
      runs: { where: "at", node: to },
      verdict: "incompatible",
      because: `they go on with ${to}, which is not there any more`,
      gone: to,
    };
  }
  const skipped = insertedBetween(recorded, current, starts ? undefined : from, to);
  const enters = starts && foothold.node === to;
  return {
    node: skipped[0] ?? (starts ? to : from),
    runs: enters ? { where: "at", node: to } : { where: "after", node: starts ? to : from },
    verdict: "incompatible",
    because:
      skipped.length > 0
        ? `they have skipped ${skipped.join(" and ")}`
        : `they came to ${to} from ${starts ? "the start" : from}, which does not lead there any more`,
  };
}
