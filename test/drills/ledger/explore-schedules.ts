import { createHash } from "node:crypto";

/** Says which of `options` ways is taken at this point. Asked again for the same prefix, a schedule must ask the same questions. */
export type Choose = (options: readonly string[]) => string;

/** One way through: plays until everything is at rest and returns what is wrong with it. */
export type Play = (choose: Choose, seen: (state: string) => void) => Promise<readonly string[]>;

export interface Violation {
  readonly problems: readonly string[];
  /** Every choice on the way, in order: enough to play it again. */
  readonly schedule: readonly string[];
}

export interface Exploration {
  /** Ways played from the start to where they rest, or to a state that another way had come to. */
  readonly schedules: number;
  /** Different states of store, outside world and everybody's own observations. */
  readonly states: number;
  readonly longest: number;
  readonly violations: readonly Violation[];
  /** False when a limit ended it first. */
  readonly complete: boolean;
}

/** Thrown through a play that has come to a state whose continuations are all explored already. */
class SeenBefore extends Error {}

/**
 * Stateless exploration, depth first: plays every way there is through real code, each from the start. A state is what everybody has
 * observed so far, together with what is stored and what happened outside; two ways to the same state have the same continuations, so
 * the second is cut there.
 */
export async function exploreSchedules(
  play: Play,
  limits: { readonly schedulesMax: number; readonly violationsMax: number },
): Promise<Exploration> {
  const states = new Set<string>();
  const violations: Violation[] = [];
  const path: { readonly options: readonly string[]; taken: number }[] = [];
  let schedules = 0;
  let longest = 0;
  for (;;) {
    let depth = 0;
    const choose: Choose = (options) => {
      const step = path[depth] ?? { options, taken: 0 };
      if (step.options.join() !== options.join())
        throw new Error(
          `the play is not deterministic: it asked ${options.join()} where it had asked ${step.options.join()}`,
        );
      if (depth === path.length) path.push(step);
      depth++;
      return options[step.taken] as string;
    };
    const seen = (state: string) => {
      if (depth < path.length) return;
      const digest = createHash("sha1").update(state).digest("base64");
      if (states.has(digest)) throw new SeenBefore();
      states.add(digest);
    };
    schedules++;
    try {
      const problems = await play(choose, seen);
      if (problems.length > 0)
        violations.push({ problems, schedule: path.map(({ options, taken }) => options[taken] as string) });
    } catch (error) {
      if (!(error instanceof SeenBefore)) throw error;
    }
    longest = Math.max(longest, depth);
    while (path.length > 0) {
      const last = path[path.length - 1];
      if (last && ++last.taken < last.options.length) break;
      path.pop();
    }
    const report = { schedules, states: states.size, longest, violations };
    if (path.length === 0) return { ...report, complete: true };
    if (schedules >= limits.schedulesMax || violations.length >= limits.violationsMax)
      return { ...report, complete: false };
  }
}

/** Plays one known schedule again: what a reported violation is looked at with. */
export function playAgain(play: Play, schedule: readonly string[]): Promise<readonly string[]> {
  let depth = 0;
  return play(
    (options) => {
      const wanted = schedule[depth++] ?? options[0];
      if (wanted === undefined || !options.includes(wanted))
        throw new Error(`expected one of ${options.join()}, the schedule says ${String(wanted)}`);
      return wanted;
    },
    () => undefined,
  );
}
