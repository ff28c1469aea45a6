import { END } from "../runlog/step.ts";
import { contractNode } from "./contract-graph.ts";
import type { Hurt } from "./hurt.ts";
import { hurtsOf } from "./hurts-of.ts";
import { type Manifest, manifestDigest } from "./manifest.ts";
import { type MigrationContract, migrationsBetween } from "./migration.ts";
import type { Foothold } from "./foothold.ts";
import { type ContractVerdict, worstVerdict } from "./verdict.ts";

/** Whether, and how, one run goes on under another contract. */
export interface PlaceComparison {
  readonly verdict: ContractVerdict;
  readonly from: number;
  readonly to: number;
  /** The node at which it goes on; undefined where it does not. */
  readonly goesOnAt: string | undefined;
  /** Whether a person has to be asked again: an open question is closed first, and a yes that was given no longer counts. */
  readonly asksAgain: boolean;
  /** To be applied to the folded state, in order. Empty unless the verdict is `migrate`. */
  readonly migrations: readonly MigrationContract[];
  /** Why it is not simply compatible. */
  readonly hurts: readonly Hurt[];
}

/**
 * Whether a run of contract `recorded` that stands at `foothold` may go on under `current`. Pure; asked when a run is resumed and when a
 * person decides. `compatible` promises that every record fits, so nothing recorded is done again and no replay is refused.
 */
export function compareAt(recorded: Manifest, current: Manifest, foothold: Foothold): PlaceComparison {
  const versions = { from: recorded.workflow_version, to: current.workflow_version };
  const goesOn = { ...versions, goesOnAt: foothold.node, asksAgain: false, migrations: [] };
  if (manifestDigest(recorded) === manifestDigest(current)) return { ...goesOn, verdict: "same", hurts: [] };

  const hurts = [...hurtsOf(recorded, current, foothold), ...inFlightHurts(recorded, current, foothold)];
  const migrations = migrationsBetween(current.migrations ?? [], versions.from, versions.to) ?? [];
  if (migrations.length > 0) return migrated(current, foothold, hurts, { ...versions, migrations });

  const verdict = worstVerdict(["compatible", ...hurts.map((hurt) => hurt.verdict)]);
  if (verdict === "incompatible") return { ...goesOn, goesOnAt: undefined, verdict, hurts };
  const asksAgain = verdict === "reapprove";
  return { ...goesOn, verdict, asksAgain, goesOnAt: asksAgain ? askedAt(foothold, hurts) : foothold.node, hurts };
}

/** A raised version says that something changed that no manifest shows: a callback may make another operation of the same act. */
function inFlightHurts(recorded: Manifest, current: Manifest, foothold: Foothold): readonly Hurt[] {
  if (recorded.workflow_version === current.workflow_version) return [];
  const own = `only version ${recorded.workflow_version} can end`;
  const begun = foothold.begun.map((node): Hurt => ({
    node,
    runs: { where: "begun at", node },
    verdict: "incompatible",
    because: `${node} may have reached the outside, which ${own}`,
    unmovable: true,
  }));
  const undoing: Hurt = {
    node: undefined,
    runs: { where: "at", node: foothold.node },
    verdict: "incompatible",
    because: `it takes back what it did, which ${own}`,
    unmovable: true,
  };
  return foothold.undoing ? [...begun, undoing] : begun;
}

function migrated(
  current: Manifest,
  foothold: Foothold,
  hurts: readonly Hurt[],
  by: Pick<PlaceComparison, "from" | "to" | "migrations">,
): PlaceComparison {
  const at = by.migrations.reduce((node, migration) => migration.resume_at?.[node] ?? node, foothold.node);
  const moved = at !== foothold.node;
  const stranded = hurts.some(({ unmovable }) => unmovable) || (at !== END && !contractNode(current, at));
  if (stranded) {
    return { ...by, verdict: "incompatible", goesOnAt: undefined, asksAgain: false, migrations: [], hurts };
  }
  const wanted = foothold.asked !== undefined && by.migrations.some(({ reapprove }) => reapprove);
  // Whoever goes on elsewhere comes to the question again, if there is one.
  const asksAgain = !moved && (wanted || hurts.some(({ question }) => question));
  const questions = hurts.map(({ from, ...hurt }) => hurt);
  return { ...by, verdict: "migrate", goesOnAt: asksAgain ? askedAt(foothold, questions) : at, asksAgain, hurts };
}

/** Where a run goes on so that the question comes again: before whatever it shows has to be made again, else at the question itself. */
function askedAt(foothold: Foothold, hurts: readonly Hurt[]): string {
  const places = hurts.flatMap(({ question, from, runs }) => {
    if (!question) return [];
    if (from !== undefined) return [from];
    return runs.where === "after" ? [runs.node] : [];
  });
  return foothold.edges.find(({ from }) => places.includes(from))?.from ?? foothold.node;
}
