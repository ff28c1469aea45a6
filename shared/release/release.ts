import { z } from "zod";

/** Nothing of this version may go on by itself: a security fix, say. Its runs have to be moved, forked or cancelled. */
export const Retirement = z.object({
  at: z.string(),
  by: z.string(),
  reason: z.string(),
});
export type Retirement = z.infer<typeof Retirement>;

/**
 * A version of an agent as it was deployed: which states, pinned to which functions, run its contract. Two deployments of one version with
 * other code are two releases.
 */
export const Release = z.object({
  agent: z.string(),
  workflow_version: z.number().int().positive(),
  /** What its runs rely on; the contract itself lies under this digest. */
  contract_digest: z.string(),
  /** Of the state machine's version, which pins the functions' versions. */
  state_machine_arn: z.string(),
  released_at: z.string(),
  retired: Retirement.optional(),
});
export type Release = z.infer<typeof Release>;
