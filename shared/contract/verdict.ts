import { z } from "zod";

/**
 * What another contract means for a run, from the least to the most:
 * - `same`: it is this contract.
 * - `compatible`: only what lies ahead differs. It goes on.
 * - `reapprove`: it goes on once a person has been asked again.
 * - `migrate`: it goes on once the registered migrations have changed its state.
 * - `incompatible`: it does not go on here. The version it started on ends it.
 */
export const ContractVerdict = z.enum(["same", "compatible", "reapprove", "migrate", "incompatible"]);
export type ContractVerdict = z.infer<typeof ContractVerdict>;

/** The one that asks most of somebody. */
export const worstVerdict = (verdicts: readonly ContractVerdict[]): ContractVerdict =>
  ContractVerdict.options.findLast((verdict) => verdicts.includes(verdict)) ?? "same";
