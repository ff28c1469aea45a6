import type { Release, Retirement } from "./release.ts";

/**
 * What new runs start on: the release that was deployed last. Not always that of the highest version, since a deployment may go back to an
 * earlier one.
 */
export const liveRelease = (releases: readonly Release[]): Release | undefined =>
  releases.reduce<Release | undefined>(
    (latest, release) => (latest === undefined || release.released_at > latest.released_at ? release : latest),
    undefined,
  );

/** Why nothing of a version may go on; undefined where it may. */
export const retirementIn = (releases: readonly Release[], version: number): Retirement | undefined =>
  releases.find((release) => release.workflow_version === version && release.retired !== undefined)?.retired;

/** The versions there are, newest first. */
export const versionsOf = (releases: readonly Release[]): readonly number[] => [
  ...new Set(releases.map((release) => release.workflow_version)),
];

/** What a run is moved to when somebody says a version: its newest release. */
export const releaseOf = (releases: readonly Release[], version: number): Release | undefined =>
  releases.find((release) => release.workflow_version === version);
