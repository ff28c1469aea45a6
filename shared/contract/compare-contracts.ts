import { contractChanges } from "./contract-changes.ts";
import type { Hurt } from "./hurt.ts";
import { hurtsOf } from "./hurts-of.ts";
import { type Manifest, manifestDigest } from "./manifest.ts";
import { migrationsBetween } from "./migration.ts";
import { everyFoothold } from "./foothold.ts";
import { type ContractVerdict, worstVerdict } from "./verdict.ts";

/** A hurt, and what it comes to with the migrations that are registered. */
export interface ComparedHurt extends Hurt {
  readonly comesTo: ContractVerdict;
}

/** One node, or the workflow as a whole where `node` is undefined: what changed, and whom that hurts. */
export interface NodeComparison {
  readonly node: string | undefined;
  readonly verdict: ContractVerdict;
  readonly what: readonly string[];
  readonly hurts: readonly ComparedHurt[];
}

export interface ContractComparison {
  readonly agent: string;
  readonly from: number;
  readonly to: number;
  /** For the open run that it hits hardest, wherever that stands. */
  readonly verdict: ContractVerdict;
  /** Only what changed. */
  readonly nodes: readonly NodeComparison[];
}

/**
 * What becomes of open runs that were started under `recorded`, if they went on under `current`. Pure. Of callbacks it sees only whether
 * they are there; and where the version was raised, an operation that has begun is ended by its own version whatever this says.
 */
export function compareContracts(recorded: Manifest, current: Manifest): ContractComparison {
  const migrates =
    migrationsBetween(current.migrations ?? [], recorded.workflow_version, current.workflow_version) !== undefined;
  const same = manifestDigest(recorded) === manifestDigest(current);
  const found = same ? [] : strongest(everyFoothold(recorded).flatMap((place) => hurtsOf(recorded, current, place)));
  const hurts = found.map((hurt): ComparedHurt => ({ ...hurt, comesTo: verdictOf(hurt, current, migrates) }));
  const changes = same ? [] : contractChanges(recorded, current);
  const named = new Set([...changes.map(({ node }) => node), ...hurts.map(({ node }) => node)]);
  const nodes = [...named].map((node): NodeComparison => {
    const own = hurts.filter((hurt) => hurt.node === node);
    return {
      node,
      verdict: worstVerdict(["compatible", ...own.map(({ comesTo }) => comesTo)]),
      what: changes.find((change) => change.node === node)?.what ?? [],
      hurts: own,
    };
  });
  const others: readonly ContractVerdict[] = same ? ["same"] : migrates ? ["migrate"] : ["compatible"];
  // With a migration at hand, what has begun is waited for, and then goes along: it does not make the change one that nobody can survive.
  const counted = migrates ? hurts.filter(({ runs }) => runs.where !== "begun at") : hurts;
  return {
    agent: current.workflow_name,
    from: recorded.workflow_version,
    to: current.workflow_version,
    verdict: worstVerdict([...others, ...counted.map(({ comesTo }) => comesTo)]),
    nodes,
  };
}

function verdictOf(hurt: Hurt, current: Manifest, migrates: boolean): ContractVerdict {
  if (!migrates || hurt.unmovable) return hurt.verdict;
  const stranded = hurt.gone !== undefined && !movesOn(current, hurt.gone);
  return stranded ? "incompatible" : "migrate";
}

const movesOn = (current: Manifest, gone: string): boolean =>
  (current.migrations ?? []).some((migration) => migration.resume_at?.[gone] !== undefined);

/** Each hurt once, and of several about the same node and the same runs the strongest. */
function strongest(hurts: readonly Hurt[]): readonly Hurt[] {
  const kept = new Map<string, Hurt>();
  for (const hurt of hurts) {
    const key = JSON.stringify([hurt.node, hurt.runs]);
    const before = kept.get(key);
    if (!before || (before.verdict === "reapprove" && hurt.verdict === "incompatible")) kept.set(key, hurt);
  }
  return [...kept.values()];
}
