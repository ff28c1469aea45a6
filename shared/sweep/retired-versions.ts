import { retirementIn } from "../release/live-release.ts";
import type { Release, Retirement } from "../release/release.ts";
import type { Releases } from "../release/releases.ts";

/** Which versions were retired. */
export interface RetiredVersions {
  of(agent: string, version: number): Promise<Retirement | undefined>;
}

/** For one sweep: each agent's releases are read once, when its first run is looked at. */
export function retiredVersions(releases: Pick<Releases, "list">): RetiredVersions {
  const read = new Map<string, Promise<readonly Release[]>>();
  return {
    async of(agent, version) {
      const known = read.get(agent) ?? releases.list(agent);
      read.set(agent, known);
      return retirementIn(await known, version);
    },
  };
}
