import type { OpenCursor, OpenPage } from "../tables/table-schema.ts";
import { isoTime } from "../ports/clock.ts";
import { retiredVersions } from "./retired-versions.ts";
import { sweepOperation } from "./sweep-operation.ts";
import type { SweepDeed, SweepPorts, SweepState } from "./sweep-ports.ts";
import { sweepRun } from "./sweep-run.ts";
import { sweepWaiter } from "./sweep-waiter.ts";

export interface SweepReport {
  readonly looked: number;
  readonly deeds: Readonly<Partial<Record<SweepDeed, number>>>;
  /** Things that could not be looked into; the rest was. The log says why. */
  readonly errors: number;
  /** False when time ran out first, or an index could not be read: the next sweep goes on from there. */
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
function sectionsOf(ports: SweepPorts): readonly Section[] {
  const retired = retiredVersions(ports.releases);
  const lookAtRun = (run: { readonly run_id: string }) => sweepRun(run, ports, retired);
  return [
    ...(["STARTED", "UNKNOWN", "PENDING"] as const).map((status) =>
      section(status, (limit, after) => ports.ledgerStore.pageOpen(status, limit, after), sweepOperation, ports),
    ),
    section("waiters", (limit, after) => ports.log.pageOpenWaiters(limit, after), sweepWaiter, ports),
    section("runs", (limit, after) => ports.log.pageOpenRuns(limit, after), lookAtRun, ports),
  ];
}

/** From the section in which time ran out, all the way round: a crowded one never keeps the others from their turn. */
function sectionsFrom(cursors: SweepState["cursors"], ports: SweepPorts): readonly Section[] {
  const sections = sectionsOf(ports);
  const first = Math.max(
    0,
    sections.findIndex(({ name }) => cursors[name] !== undefined),
  );
  return [...sections.slice(first), ...sections.slice(0, first)];
}

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
  const tally: Tally = { looked: 0, errors: 0, deeds: {} };
  const timeIsUp = () => ports.clock.nowMs() >= budget.deadlineMs;
  const cursors: Record<string, OpenCursor> = {};
  let complete = true;
  for (const part of sectionsFrom(state.cursors, ports)) {
    const stopped = await sweepSection(part, state.cursors[part.name], budget.pageMax, { tally, timeIsUp, ports });
    complete &&= stopped === "complete";
    if (typeof stopped === "object" && stopped.at !== undefined) cursors[part.name] = stopped.at;
  }

  await ports.sweepState.write({ cursors, finishedAtMs: complete ? ports.clock.nowMs() : state.finishedAtMs });
  const report: SweepReport = { ...tally, finished: complete };
  const { looked, errors, deeds } = tally;
  ports.logger.info("sweep", { looked, errors, finished: complete, at: isoTime(ports.clock.nowMs()), ...deeds });
  return report;
}

interface Tally {
  looked: number;
  errors: number;
  readonly deeds: Partial<Record<SweepDeed, number>>;
}

interface Sweeping {
  readonly tally: Tally;
  readonly timeIsUp: () => boolean;
  readonly ports: SweepPorts;
}

/** Looks at one index from `from` on. @returns `unread` where it could not be read, or where time ran out. */
async function sweepSection(
  { name, page }: Section,
  from: OpenCursor | undefined,
  pageMax: number,
  { tally, timeIsUp, ports }: Sweeping,
): Promise<"complete" | "unread" | { readonly at: OpenCursor | undefined }> {
  const failed = (error: unknown, message: string) => {
    tally.errors++;
    ports.logger.error(message, { section: name, code: codeOf(error) });
  };
  let at = from;
  try {
    do {
      if (timeIsUp()) return { at };
      const { items, next } = await page(pageMax, at);
      let done = 0;
      for (const look of items) {
        if (timeIsUp()) break;
        tally.looked++;
        const deed = await look().catch((error: unknown) => {
          failed(error, "sweep could not look into it");
          return "nothing" as const;
        });
        tally.deeds[deed] = (tally.deeds[deed] ?? 0) + 1;
        done++;
      }
      // Right after the last one looked at: a page too long for one sweep must not be begun anew each time.
      if (done > 0) at = done < items.length ? (await page(done, at)).next : next;
      else if (items.length === 0) at = next;
      if (done < items.length) return { at };
    } while (at !== undefined);
    return "complete";
  } catch (error) {
    // Begun anew next time: a cursor of another version cannot be read at all.
    failed(error, "sweep could not read an index");
    return "unread";
  }
}

const codeOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
