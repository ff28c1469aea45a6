import type { LedgerDrill } from "./drill-settings.ts";
import { type Exploration, exploreSchedules, type Play } from "./explore-schedules.ts";
import { Scene } from "./scene.ts";
import type { Seat } from "./seat.ts";

/**
 * Every way in which executors of one operation and the sweep can meet, with every fault that the budget allows at every call, through
 * the real protocol. Judged by what arrived outside.
 */
export const drillLedger = (drill: LedgerDrill): Promise<Exploration> =>
  exploreSchedules(playOf(drill), {
    schedulesMax: drill.schedulesMax ?? Infinity,
    violationsMax: drill.violationsMax ?? 1,
  });

export function playOf(drill: LedgerDrill): Play {
  const seats = new Map<string, Seat>();
  return async (choose, seen) => {
    const scene = new Scene(drill, seats);
    scene.begin();
    for (;;) {
      seen(scene.state());
      const ways = scene.ways();
      if (ways.length === 0) break;
      await scene.take(ways.length === 1 ? (ways[0] as string) : choose(ways));
      if (scene.problems.length > 0) return scene.problems;
    }
    await scene.rest();
    return scene.problems;
  };
}
