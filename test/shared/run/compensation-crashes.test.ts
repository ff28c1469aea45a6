import { describe, expect, it } from "vitest";
import { httpError, type TestRun, type TestWorld, type TraceEntry } from "../../../infra/testing/index.ts";
import { happened, trip, tripWorld, type TripWorldOptions } from "../../builders/trip-agent.ts";

interface Story {
  readonly title: string;
  readonly options: TripWorldOptions;
  /** What makes it turn out otherwise. */
  readonly turn: (run: TestRun, world: TestWorld) => Promise<void>;
  readonly end: string;
  /** The function in whose first call it turns. */
  readonly from: string;
  /** Whether the undoing itself is walked too: it is the same code for all. */
  readonly all: boolean;
}

/** Whoever got no answer asks again. */
async function asked(world: TestWorld, path: string, body: object): Promise<void> {
  const { status } = await world.engine.request("POST", path, body);
  if (status === 502) await world.engine.request("POST", path, body);
}

const refused = () => {
  throw httpError(400);
};
const waits = { review: true } as const;

const stories: readonly Story[] = [
  {
    title: "that fails",
    options: { tools: { pay: refused } },
    turn: async () => undefined,
    end: "FAILED",
    from: "settle",
    all: true,
  },
  {
    title: "that a reviewer rejects",
    options: waits,
    turn: async (run, world) => {
      const { position } = await run.untilWaiting("review");
      await asked(world, `/approvals/${encodeURIComponent(`${run.id}:${position}`)}`, {
        decision: "reject",
        by: "lee",
      });
    },
    end: "SUCCEEDED",
    from: "decide",
    all: false,
  },
  {
    title: "that an operator cancels",
    options: waits,
    turn: async (run, world) => {
      await run.untilWaiting("review");
      await asked(world, `/runs/${run.id}/cancel`, { compensate: true, by: "kim" });
    },
    end: "CANCELLED",
    from: "control",
    all: false,
  },
];

async function play({ options, turn }: Story, crash?: { readonly at: number; readonly kind: Kind }) {
  const world = await tripWorld(options);
  if (crash) world.fault(crash.at, crash.kind);
  const run = await world.start(trip);
  await turn(run, world);
  const { status } = await run.untilEnd();
  await world.runUntilIdle();
  return { world, run, status };
}

const kinds = ["crash_before", "crash_after"] as const;
type Kind = (typeof kinds)[number];

/** From the moment on in which it turns, every call of a process that could die there. */
function moments({ engine }: TestWorld, { from, all }: Story): readonly TraceEntry[] {
  const { entries } = engine.trace;
  const turns = entries.findIndex(({ actor }) => actor.startsWith(`${from}#`));
  const undoing = entries.findIndex(({ ids }) => ids["line"] === "compensate!");
  return entries
    .slice(turns, all ? undefined : undoing)
    .filter(({ hasProcess, actor }) => hasProcess && !actor.startsWith("sweep"));
}

/** A story is told in parts, so that none takes long: every fourth moment each. */
const parts = [0, 1, 2, 3];
const cases = stories.flatMap((story) =>
  kinds.flatMap((kind) =>
    parts.map((part) => ({ story, kind, part, title: `a run ${story.title} (${kind}, ${part + 1} of 4)` })),
  ),
);

describe("a compensation whose process is killed", () => {
  it.each(cases.map((one) => [one.title, one] as const))(
    "at any call of %s undoes each operation once, latest first",
    async (_title, { story, kind, part }) => {
      const clean = await play(story);
      const calls = moments(clean.world, story);
      expect(calls.length).toBeGreaterThan(story.all ? 15 : 3);
      for (const { n, port, verb, ids } of calls.filter((_call, nth) => nth % 4 === part)) {
        const where = `${kind} ${n} ${port}.${verb} ${JSON.stringify(ids)}`;
        const { world, run, status } = await play(story, { at: n, kind });
        expect(`${where}: ${status}`).toBe(`${where}: ${story.end}`);
        expect([where, ...happened(world)]).toEqual([
          where,
          ...["book_hotel", "book_car", "send_mail"],
          ...["cancel_car", "cancel_hotel"],
        ]);
        const entries = await run.operations();
        const undoing = entries.filter(({ position }) => position.endsWith(".compensate"));
        expect(undoing.map(({ status }) => status)).toEqual(["SUCCEEDED", "SUCCEEDED"]);
        expect((await run.steps()).map(({ position }) => position)).toEqual(
          (await clean.run.steps()).map(({ position }) => position),
        );
      }
    },
  );
});
