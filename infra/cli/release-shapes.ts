import { z } from "zod";

const Retired = z.object({ at: z.string(), by: z.string(), reason: z.string() });

const Version = z.object({
  workflow_version: z.number(),
  live: z.boolean(),
  retired: Retired.optional(),
  open_runs: z.object({
    total: z.number(),
    by_status: z.record(z.string(), z.number()),
    examples: z.array(z.string()),
  }),
  releases: z.array(z.object({ released_at: z.string() })),
});
export type Version = z.infer<typeof Version>;

/** The API's answers about releases, as far as the command shows them. */
export const Versions = z.object({
  agents: z.array(z.object({ agent: z.string(), live_version: z.number().optional(), versions: z.array(Version) })),
});
export type Versions = z.infer<typeof Versions>;

export const RetiredVersion = z.object({
  agent: z.string(),
  workflow_version: z.number(),
  retired: Retired,
  changed: z.boolean(),
  runs: z.object({
    marked: z.number(),
    marked_before: z.number(),
    left: z.number(),
    examples: z.array(z.string()),
  }),
  next: z.array(z.string()),
});
export type RetiredVersion = z.infer<typeof RetiredVersion>;
