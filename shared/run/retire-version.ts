import { BadRequest } from "../faults/faults.ts";
import { isoTime } from "../ports/clock.ts";
import { liveRelease, retirementIn, versionsOf } from "../release/live-release.ts";
import type { Retirement } from "../release/release.ts";
import type { Releases } from "../release/releases.ts";
import type { RunPorts } from "./ports.ts";
import { type RetiredRun, retireRun } from "./retire-run.ts";

/** Runs that one request marks: a few seconds of reads and writes. The sweep comes to the rest. */
const runsMax = 1_000;
/** Runs at a time: enough to hide the way there and back. */
const atOnce = 16;

export interface RetiredVersion {
  /** The retirement that counts: the first. */
  readonly retirement: Retirement;
  /** False when it was retired before. */
  readonly changed: boolean;
  /** Its runs that were marked now. */
  readonly marked: readonly string[];
  readonly markedBefore: number;
  /** Runs that were not come to. The sweep marks them, or the same request again. */
  readonly left: number;
}

/**
 * Retires a version: first its releases, then every open run that is on it. Safe to repeat, which marks runs that were missed; so does the
 * sweep.
 * @throws BadRequest 404 for a version that was never deployed, 409 for the one that new runs start on.
 */
export async function retireVersion(
  agent: string,
  version: number,
  { by, reason }: Pick<Retirement, "by" | "reason">,
  ports: RunPorts & { readonly releases: Releases },
): Promise<RetiredVersion> {
  const { releases, log, clock, logger } = ports;
  const before = await releases.list(agent);
  refuse(agent, version, before);
  const wanted = { at: isoTime(clock.nowMs()), by, reason };
  await releases.retire(agent, version, wanted);
  // Of two that retire it at once, the first writer's word is everybody's.
  const retirement = retirementIn(await releases.list(agent), version) ?? wanted;

  const open = (await log.listOpenRuns()).filter((run) => run.agent === agent && run.workflow_version === version);
  const found = open.slice(0, runsMax).map((run) => run.run_id);
  const done = new Map<string, RetiredRun>();
  for (let from = 0; from < found.length; from += atOnce) {
    await Promise.all(
      found.slice(from, from + atOnce).map(async (id) => done.set(id, await retireRun(id, version, retirement, log))),
    );
  }
  const of = (result: RetiredRun) => found.filter((id) => done.get(id) === result);
  const retired: RetiredVersion = {
    retirement,
    changed: retirementIn(before, version) === undefined,
    marked: of("marked"),
    markedBefore: of("marked_before").length,
    left: of("contended").length + open.length - found.length,
  };
  logger.info("version retired", {
    agent,
    workflow_version: version,
    retired_by: by,
    runs_marked: retired.marked.length,
    runs_left: retired.left,
  });
  return retired;
}

function refuse(agent: string, version: number, releases: Awaited<ReturnType<Releases["list"]>>): void {
  const known = versionsOf(releases);
  if (!known.includes(version)) {
    const there = known.length === 0 ? "none of it was deployed here" : `there are ${known.join(", ")}`;
    throw new BadRequest(
      "unknown_version",
      `there is no version ${version} of "${agent}": ${there}. Nothing was retired`,
      404,
    );
  }
  if (liveRelease(releases)?.workflow_version !== version) return;
  throw new BadRequest(
    "version_live",
    `new runs of ${agent} start on version ${version}: deploy the version that mends it, then retire this one. Nothing was retired`,
    409,
  );
}
