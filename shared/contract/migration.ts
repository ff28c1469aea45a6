import type { State } from "../agent/node.ts";
import { Fault } from "../faults/fault.ts";
import { canonicalJson } from "../operation/canonical-json.ts";

/**
 * How a run of version `from` goes on under version `to`. Versions only go up, and each has at most one way on; the next one's migration
 * takes it further.
 */
export interface Migration {
  readonly from: number;
  readonly to: number;
  /**
   * Folded state in, as version `from` recorded it; folded state out, as version `to` would have. Pure: the same in, the same out, nothing
   * outside touched.
   */
  readonly migrate: (state: State) => State;
  /**
   * Whether a yes that has not led to its write yet is asked for again. It is anyway where what it authorises has changed, and so is a
   * question that nobody has answered: what it shows was made of the old state. Default false.
   */
  readonly reapprove?: boolean;
  /** Where a run goes on by the node that it stands at, e.g. one that `to` does not have: old name → new name. Default: where it stands. */
  readonly resumeAt?: Readonly<Record<string, string>>;
}

/** What a manifest says about a migration: that it is there. */
export interface MigrationContract {
  readonly from: number;
  readonly to: number;
  readonly reapprove?: boolean | undefined;
  readonly resume_at?: Readonly<Record<string, string>> | undefined;
}

/**
 * The migrations that lead from one version to another, in order.
 * @returns undefined where none do; they must land on `to` exactly.
 */
export function migrationsBetween<M extends { readonly from: number; readonly to: number }>(
  migrations: readonly M[],
  from: number,
  to: number,
): readonly M[] | undefined {
  const chain: M[] = [];
  for (let at = from; at !== to;) {
    const next = migrations.find((migration) => migration.from === at);
    // Versions go up, so this ends.
    if (!next || next.to <= at || next.to > to) return undefined;
    chain.push(next);
    at = next.to;
  }
  return chain.length > 0 ? chain : undefined;
}

/**
 * The state after each of `migrations`, in order. The state that is given is not changed.
 * @throws Fault `migration_failed`, final, when one throws or gives no JSON object with an input.
 */
export function migrateState(migrations: readonly Migration[], state: State): State {
  return migrations.reduce((before, migration) => {
    const fail = (why: string, cause?: unknown): never => {
      throw new Fault(
        "migration_failed",
        "final",
        `the migration from version ${migration.from} to ${migration.to} ${why}. Nothing ran, and the run is as it was`,
        { facts: { from: migration.from, to: migration.to }, cause },
      );
    };
    let after: unknown;
    try {
      // A copy: what a callback writes into it reaches nobody.
      after = migration.migrate(structuredClone(before));
    } catch (error) {
      return fail(`threw: ${error instanceof Error ? error.message : String(error)}`, error);
    }
    if (typeof after !== "object" || after === null || !("input" in after)) {
      return fail(`gave ${after === undefined ? "nothing" : "no state"}: return { ...state, … }, input included`);
    }
    try {
      return JSON.parse(canonicalJson(after)) as State;
    } catch (error) {
      return fail(`gave what JSON cannot carry: ${error instanceof Error ? error.message : String(error)}`, error);
    }
  }, state);
}

/** Says what is wrong with an agent's migrations, or nothing. */
export function migrationProblem(migrations: readonly Migration[], version: number): string | undefined {
  for (const { from, to } of migrations) {
    const inOrder = Number.isInteger(from) && Number.isInteger(to) && from >= 1 && from < to && to <= version;
    if (!inOrder) {
      return `a migration goes up, from a version before this one to at most this one (${version}); found ${from} to ${to}`;
    }
    if (migrations.filter((other) => other.from === from).length > 1) {
      return `two migrations lead away from version ${from}: keep one`;
    }
  }
  return undefined;
}
