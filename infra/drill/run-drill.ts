import { completeScript } from "./complete-script.ts";
import { type CrashPoint, crashPointOf } from "./crash-point.ts";
import type { DrillScript } from "./drill-script.ts";
import { judgeCase, type Violation } from "./judge-case.ts";
import { combinedStrikes, rivalStrikes, singleStrikes } from "./plan-cases.ts";
import { playCase, type Played } from "./play-case.ts";
import { type Strike, strikesText } from "./strike.ts";

/** A case that broke a promise, and how to see it again. */
export interface BrokenCase {
  /** Its strikes, e.g. `17:crash_after+23:throttle`: what `--case` takes. */
  readonly case: string;
  readonly seed: number;
  readonly violations: readonly Violation[];
}

/** A crash at a point of an operation, and what was known of it before anybody helped. */
export interface MatrixRow {
  readonly tool: string;
  readonly capability: string;
  readonly delivery: string;
  readonly point: CrashPoint;
  readonly effects: number;
  readonly ledger: string;
  readonly run: string;
  readonly case: string;
}

export interface DrillReport {
  readonly agent: string;
  readonly version: number;
  readonly seed: number;
  /** Cases played, the clean one included. */
  readonly cases: number;
  readonly counts: { readonly single: number; readonly rivals: number; readonly combined: number };
  /** Port calls of the run without faults. */
  readonly calls: number;
  /** Cases that were planned and left out, since the budget was spent. 0 means that every call met every fault. */
  readonly skipped: number;
  /** Cases in which an operator had to help. */
  readonly helped: number;
  readonly violations: readonly BrokenCase[];
  readonly matrix: readonly MatrixRow[];
  /** What was made up since the script does not say it. */
  readonly invented: readonly string[];
}

export interface DrillOptions {
  readonly seed: number;
  /** Whether there is time for another case. Asked before each. */
  readonly mayGoOn: () => boolean;
  /** Combinations of several faults, at most. @default 200 */
  readonly combinedMax?: number;
  readonly onProgress?: (done: number, planned: number, broken: number) => void;
}

const combinedMaxDefault = 200;

/**
 * Drills an agent: once without faults, then every fault at every port call, then a rival execution at every call, then combinations by
 * the seed. The same script, seed and version give the same cases with the same traces.
 * @throws Error where the run without faults does not come to its end: then there is nothing to compare with.
 */
export async function runDrill(script: DrillScript, options: DrillOptions): Promise<DrillReport> {
  const complete = completeScript(script);
  const { agent } = complete;
  const { seed, combinedMax = combinedMaxDefault } = options;
  const clean = await playCase(complete, seed, []);
  refuseUnclean(clean);
  const onlyOnce = judgeCase(agent, clean, clean);

  const singles = singleStrikes(agent, clean.trace);
  const rivals = rivalStrikes(clean.trace);
  const combined = combinedStrikes(singles, rivals, seed);
  const counts = { single: 0, rivals: 0, combined: 0 };
  const violations: BrokenCase[] = onlyOnce.length > 0 ? [{ case: "clean", seed, violations: onlyOnce }] : [];
  const matrix: MatrixRow[] = [];
  const planned = 1 + singles.length + rivals.length + combinedMax;
  let helped = 0;
  let done = 1;

  const play = async (kind: keyof typeof counts, strikes: readonly Strike[]): Promise<boolean> => {
    if (!options.mayGoOn()) return false;
    const played = await playCase(complete, seed, strikes);
    const broken = judgeCase(agent, played, clean);
    if (broken.length > 0) violations.push({ case: strikesText(strikes), seed, violations: broken });
    if (played.helped > 0) helped++;
    if (kind === "single") matrix.push(...rowOf(played));
    counts[kind]++;
    done++;
    options.onProgress?.(done, planned, violations.length);
    return true;
  };
  const all = async (kind: keyof typeof counts, cases: Iterable<readonly Strike[]>, most: number): Promise<void> => {
    let played = 0;
    for (const strikes of cases) if (played++ >= most || !(await play(kind, strikes))) return;
  };
  await all(
    "single",
    singles.map((strike) => [strike]),
    Infinity,
  );
  await all(
    "rivals",
    rivals.map((strike) => [strike]),
    Infinity,
  );
  await all("combined", combined, combinedMax);

  return {
    agent: agent.name,
    version: agent.version,
    seed,
    cases: done,
    counts,
    calls: clean.trace.length,
    skipped: planned - done,
    helped,
    violations,
    matrix,
    invented: complete.invented,
  };
}

function refuseUnclean({ end }: Played): void {
  const run = end?.history.run;
  if (run?.status === "SUCCEEDED") return;
  const why = run?.failure ? ` at "${run.failure.node}": ${run.failure.error.message}` : "";
  throw new Error(
    `the run without faults ended ${run?.status ?? "before it began"}${why}. A drill compares with it: script models, tools and preconditions so that it succeeds`,
  );
}

/** What a crash at a crash point left behind. */
function rowOf({ strikes, trace, rest }: Played): readonly MatrixRow[] {
  const struck = trace.find(({ n, fault }) => n === strikes[0]?.call && fault !== undefined);
  const at = struck && rest && crashPointOf(struck, rest.operations);
  if (!at) return [];
  const { point, entry } = at;
  return [
    {
      tool: entry.action_name,
      capability: entry.capability,
      delivery: entry.delivery ?? "direct",
      point,
      effects: rest.effects.filter(({ key }) => key === entry.operation_id).length,
      ledger: entry.status,
      run: rest.history.run.status,
      case: strikesText(strikes),
    },
  ];
}
