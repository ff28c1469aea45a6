import { z } from "zod";

/**
 * What a version writes down when it takes over a run of another one whose records are not its own. The record stands in the log where the
 * run stood; what lies before it is history, and the state that it carries is what goes on.
 */
export const Adoption = z.object({
  from: z.object({ workflow_version: z.number().int(), contract_digest: z.string() }),
  to: z.object({ workflow_version: z.number().int(), contract_digest: z.string() }),
  verdict: z.enum(["reapprove", "migrate"]),
  /** Applied in this order. */
  migrations: z.array(z.object({ from: z.number().int(), to: z.number().int() })),
  /** Whether what people have approved before, and was not done yet, still counts. */
  decisions_hold: z.boolean(),
  state: z.record(z.string(), z.unknown()),
});
export type Adoption = z.infer<typeof Adoption>;

/** The kind of such a record. No node has it. */
export const ADOPTION = "adoption";

/** Splits a log where a version took the run over last. */
export function sinceAdoption<S extends { readonly kind: string }>(
  steps: readonly S[],
): { readonly adoption: S | undefined; readonly own: readonly S[] } {
  const at = steps.findLastIndex((step) => step.kind === ADOPTION);
  return { adoption: steps[at], own: steps.slice(at + 1) };
}
