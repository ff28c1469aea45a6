/** Which open runs a change hurts. `after` a node: those that have its result recorded. */
export type HurtRuns =
  { readonly where: "all" } | { readonly where: "at" | "asked at" | "begun at" | "after"; readonly node: string };

/** One reason why a run cannot simply go on under another contract. */
export interface Hurt {
  /** The node that changed; undefined where the workflow as a whole did. */
  readonly node: string | undefined;
  readonly runs: HurtRuns;
  readonly verdict: "reapprove" | "incompatible";
  readonly because: string;
  /** Set where what is recorded or in flight cannot be carried over by changing the state. */
  readonly unmovable?: true;
  /** Set where it is about what a person was asked: a run that goes on has to ask again. */
  readonly question?: true;
  /** Set where the run stands at a node that is not there any more: a migration has to say where it goes on. */
  readonly gone?: string;
  /** The node whose record has to be made again, where that mends it. */
  readonly from?: string;
}

/** As a developer reads it, after "for". */
export function runsInWords(runs: HurtRuns): string {
  switch (runs.where) {
    case "all":
      return "all open runs";
    case "at":
    case "asked at":
      return `runs at ${runs.node}`;
    case "begun at":
      return `runs at ${runs.node} whose operation has begun`;
    case "after":
      return `runs past ${runs.node}`;
    default:
      return runs satisfies never;
  }
}
