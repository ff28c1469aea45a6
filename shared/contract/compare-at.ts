import { END } from "../runlog/step.ts";
import { contractNode } from "./contract-graph.ts";
import type { Hurt } from "./hurt.ts";
import { hurtsOf } from "./hurts-of.ts";
import { openQuestions } from "./question-hurts.ts";
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
  /** Whether a person has to be asked again where it goes on: an open question is closed first, and a yes that was given no longer counts. */
  readonly asksAgain: boolean;
  /** Approvals whose open question, or whose yes that has not led to its write yet, counts no more. */
  readonly voids: readonly string[];
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
  const goesOn = { ...versions, goesOnAt: foothold.node, asksAgain: false, voids: [], migrations: [] };
  if (manifestDigest(recorded) === manifestDigest(current)) return { ...goesOn, verdict: "same", hurts: [] };

  const hurts = [...hurtsOf(recorded, current, foothold), ...inFlightHurts(recorded, current, foothold)];
  const migrations = migrationsBetween(current.migrations ?? [], versions.from, versions.to) ?? [];
  const questions = openQuestions(recorded, foothold).map(({ name }) => name);
  if (migrations.length > 0) {
    return migrated(current, foothold, { hurts, questions }, { ...versions, migrations });
  }

  const verdict = worstVerdict(["compatible", ...hurts.map((hurt) => hurt.verdict)]);
  if (verdict === "incompatible") return { ...goesOn, goesOnAt: undefined, verdict, hurts };
  const asksAgain = verdict === "reapprove";
  if (!asksAgain) return { ...goesOn, verdict, hurts };
  return { ...goesOn, verdict, asksAgain, voids: questions, goesOnAt: askedAt(foothold, hurts), hurts };
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
  { hurts, questions }: { readonly hurts: readonly Hurt[]; readonly questions: readonly string[] },
  by: Pick<PlaceComparison, "from" | "to" | "migrations">,
): PlaceComparison {
  const at = by.migrations.reduce((node, migration) => migration.resume_at?.[node] ?? node, foothold.node);
  const moved = at !== foothold.node;
  const stranded = hurts.some(({ unmovable }) => unmovable) || (at !== END && !contractNode(current, at));
  if (stranded) {
    return { ...by, verdict: "incompatible", goesOnAt: undefined, asksAgain: false, voids: [], migrations: [], hurts };
  }
  const wanted = by.migrations.some(({ reapprove }) => reapprove) ? questions : [];
  // An open question shows what another state said. Whoever goes on elsewhere comes to it again, if there is one.
  const isVoid = foothold.asked !== undefined || wanted.length > 0 || hurts.some(({ question }) => question);
  const asksAgain = isVoid && !moved;
  const mended = hurts.map(({ from, ...hurt }) => hurt);
  const goesOnAt = asksAgain ? askedAt(foothold, mended, wanted) : at;
  return { ...by, verdict: "migrate", goesOnAt, asksAgain, voids: isVoid ? questions : [], hurts };
}

/** Where a run goes on so that the question comes again: before whatever it shows has to be made again, else at the question itself. */
function askedAt(foothold: Foothold, hurts: readonly Hurt[], questions: readonly string[] = []): string {
  const hurt = hurts.flatMap(({ question, from, runs }) => {
    if (!question) return [];
    if (from !== undefined) return [from];
    return runs.where === "after" ? [runs.node] : [];
  });
  const places = [...hurt, ...questions];
  return foothold.edges.find(({ from }) => places.includes(from))?.from ?? foothold.node;
}
