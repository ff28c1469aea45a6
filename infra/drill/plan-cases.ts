import { seededRandom } from "../local/seeded-random.ts";
import { faultsThatFit } from "../in-process/injected-fault.ts";
import type { TraceEntry } from "../in-process/trace.ts";
import type { Strike } from "./strike.ts";

/** Faults in one random case, at most. */
const togetherMax = 3;

/** Every fault at every call that a clean run makes, those around an operation first: a short budget is spent where it matters. A request that arrives twice where nobody dedupes is the network's doing, not ours. */
export function singleStrikes(clean: readonly TraceEntry[], dedupes: (tool: string) => boolean): readonly Strike[] {
  const ofOperations = clean.filter(({ ids }) => ids["operation_id"] !== undefined);
  const others = clean.filter(({ ids }) => ids["operation_id"] === undefined);
  return [...ofOperations, ...others].flatMap((call) =>
    faultsThatFit(call)
      .filter(
        (kind) =>
          kind !== "duplicate" || call.port !== "tool" || call.verb !== "execute" || dedupes(call.ids["tool"] ?? ""),
      )
      .map((kind) => ({ call: call.n, kind })),
  );
}

/** A second execution of the run, or a sweep, begun at every call. */
export const rivalStrikes = (clean: readonly TraceEntry[]): readonly Strike[] =>
  clean.flatMap(({ n }) => (["rival", "sweep"] as const).map((kind) => ({ call: n, kind })));

/** Endless: two or three of `singles` at different calls, by the seed. */
export function* combinedStrikes(
  singles: readonly Strike[],
  rivals: readonly Strike[],
  seed: number,
): Generator<readonly Strike[]> {
  const random = seededRandom(seed);
  const all = [...singles, ...rivals];
  const pick = (): Strike => all[Math.floor(random() * all.length)] as Strike;
  for (;;) {
    const wanted = 2 + Math.floor(random() * (togetherMax - 1));
    const strikes = new Map<number, Strike>();
    while (strikes.size < wanted) {
      const strike = pick();
      if (!strikes.has(strike.call)) strikes.set(strike.call, strike);
    }
    yield [...strikes.values()].sort((a, b) => a.call - b.call);
  }
}
