import type { OpenCursor, OpenPage } from "../tables/table-schema.ts";
import { isoTime } from "../ports/clock.ts";
import { sweepOperation } from "./sweep-operation.ts";
import type { SweepDeed, SweepPorts } from "./sweep-ports.ts";
import { sweepRun } from "./sweep-run.ts";
import { sweepWaiter } from "./sweep-waiter.ts";

export interface SweepReport {
  readonly looked: number;
  readonly deeds: Readonly<Partial<Record<SweepDeed, number>>>;
  /** Things that could not be looked into; the rest was. The log says why. */
  readonly errors: number;
  /** False when time ran out first: the next sweep goes on from there. */
  readonly finished: boolean;
}

export interface SweepBudget {
  /** Items of one index per page. Each may cost an invocation of a few seconds. */
  readonly pageMax: number;
  /** When the sweep must have stopped, epoch milliseconds. */
  readonly deadlineMs: number;
}

/** Items of one page: a few minutes of lookups at worst, well inside a Lambda's time. */
export const sweepPageMax = 25;

/** One index, read page by page; each item is what looks at one thing. */
interface Section {
  readonly name: string;
  readonly page: (limit: number, after?: OpenCursor) => Promise<OpenPage<() => Promise<SweepDeed>>>;
}

/** The indexes a sweep reads, in the order in which one's repairs help the next: effects, waiters, runs. */
const sectionsOf = (ports: SweepPorts): readonly Section[] => [
  ...(["STARTED", "UNKNOWN", "PENDING"] as const).map((status) =>
    section(status, (limit, after) => ports.ledgerStore.pageOpen(status, limit, after), sweepOperation, ports),
  ),
  section("waiters", (limit, after) => ports.log.pageOpenWaiters(limit, after), sweepWaiter, ports),
  section("runs", (limit, after) => ports.log.pageOpenRuns(limit, after), sweepRun, ports),
];

const section = <T>(
  name: string,
  page: (limit: number, after?: OpenCursor) => Promise<OpenPage<T>>,
  look: (item: T, ports: SweepPorts) => Promise<SweepDeed>,
  ports: SweepPorts,
): Section => ({
  name,
  async page(limit, after) {
    const read = await page(limit, after);
    return { ...read, items: read.items.map((item) => () => look(item, ports)) };
  },
});

/**
 * Looks at everything that is open and sees to it that nothing is lost: in-doubt operations are found out about, answers that nobody was
 * told are told, waits past their time expire, runs that nothing would wake are taken up again. Safe to run twice at once: every repair is
 * a conditional write or a wake-up that is good once. Costs what is open, not what the tables hold.
 */
export async function sweep(budget: SweepBudget, ports: SweepPorts): Promise<SweepReport> {
  const state = await ports.sweepState.read();
  if (state.finishedAtMs !== undefined) {
    ports.metrics.add("sweep_age_seconds", {}, Math.round((ports.clock.nowMs() - state.finishedAtMs) / 1_000));
  }
  const cursors: Record<string, OpenCursor> = { ...state.cursors };
  const deeds: Partial<Record<SweepDeed, number>> = {};
  let looked = 0;
  let errors = 0;
  const timeIsUp = () => ports.clock.nowMs() >= budget.deadlineMs;

  for (const { name, page } of sectionsOf(ports)) {
    do {
      if (timeIsUp()) break;
      const { items, next } = await page(budget.pageMax, cursors[name]);
      for (const look of items) {
        if (timeIsUp()) break;
        looked++;
        const deed = await look().catch((error: unknown) => {
          errors++;
          ports.logger.error("sweep could not look into it", { section: name, code: codeOf(error) });
          return "nothing" as const;
        });
        deeds[deed] = (deeds[deed] ?? 0) + 1;
      }
      if (timeIsUp()) break;
      if (next === undefined) delete cursors[name];
      else cursors[name] = next;
    } while (cursors[name] !== undefined);
  }

  const finished = !timeIsUp();
  await ports.sweepState.write({ cursors, finishedAtMs: finished ? ports.clock.nowMs() : state.finishedAtMs });
  const report: SweepReport = { looked, deeds, errors, finished };
  ports.logger.info("sweep", { looked, errors, finished, at: isoTime(ports.clock.nowMs()), ...deeds });
  return report;
}

const codeOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
