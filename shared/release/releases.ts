import type { Release, Retirement } from "./release.ts";

/** What was deployed, so that a run can go on where it began, or be moved to another version. Kept beside the runs. */
export interface Releases {
  /** Keeps a release, once: it is known by its agent and state machine, and what is kept stays as it is. */
  keep(release: Release): Promise<void>;
  /** Newest version first, and of one version the newest release first. */
  list(agent: string): Promise<readonly Release[]>;
  /** Retires every release of a version. The first retirement stays. @returns whether there is such a version. */
  retire(agent: string, version: number, retirement: Retirement): Promise<boolean>;
}
