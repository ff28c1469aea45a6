import type { Agent } from "../../shared/agent/agent.ts";
import type { WriteTool } from "../../shared/agent/tool.ts";
import { toolsOf } from "../in-process/gated-agent.ts";
import { type FaultKind, faultsThatFit } from "../in-process/injected-fault.ts";
import type { AdmittedCall } from "../in-process/port-call.ts";
import type { TraceEntry } from "../in-process/trace.ts";
import { seededRandom } from "../local/seeded-random.ts";
import type { Strike } from "./strike.ts";

/** Faults in one random case, at most. */
const togetherMax = 3;

/** What may strike a call. A request that arrives twice where nobody dedupes is the network's doing, and nobody here promises against it. */
export const kindsThatFit = (agent: Agent, call: AdmittedCall): readonly FaultKind[] =>
  faultsThatFit(call).filter(
    (kind) => kind !== "duplicate" || call.verb !== "execute" || dedupes(agent, call.ids["tool"]),
  );

const dedupes = (agent: Agent, name: string | undefined): boolean =>
  toolsOf(agent).some((tool) => tool.name === name && (tool as unknown as WriteTool).downstream.by === "key");

/** Every fault at every call that a clean run makes, those around an operation first: a short budget is spent where it matters. */
export function singleStrikes(agent: Agent, clean: readonly TraceEntry[]): readonly Strike[] {
  const ofOperations = clean.filter(({ ids }) => ids["operation_id"] !== undefined);
  const others = clean.filter(({ ids }) => ids["operation_id"] === undefined);
  return [...ofOperations, ...others].flatMap((call) =>
    kindsThatFit(agent, call).map((kind) => ({ call: call.n, kind })),
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
