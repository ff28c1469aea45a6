import { z } from "zod";
import { NodeKind } from "../agent/node-kind.ts";
import { PackedValue } from "../payloads/claim-check.ts";
import { Position } from "./position.ts";

/** The route out of the last node. */
export const END = "end";

export const TokenUsage = z.object({ input_tokens: z.number().int(), output_tokens: z.number().int() });
export type TokenUsage = z.infer<typeof TokenUsage>;

export const StepKind = z.enum([...NodeKind.options, "adoption"]);
export type StepKind = z.infer<typeof StepKind>;

/**
 * One recorded result. Append-only: a step is never changed, and the first writer of a position wins.
 * Writing it is the checkpoint: result, next route, usage, digests and versions in one conditional put.
 */
export const Step = z.object({
  run_id: z.string(),
  position: Position,
  node: z.string(),
  /** Its node's. `adoption`: another version took the run over here. */
  kind: StepKind,
  /** Digest of the node's part of the contract. A record is reused only by a node with the same one. */
  fingerprint: z.string(),
  /** `sent_back` means that nothing was dispatched and the route leads back, with the reason as output. */
  outcome: z.enum(["done", "sent_back"]),
  output: PackedValue,
  /** Name of the next node, or `end`. */
  next: z.string(),
  workflow_version: z.number().int(),
  usage: TokenUsage.optional(),
  operation_id: z.string().optional(),
  /** Nothing happened outside: the result is made up, or another run's. */
  simulated: z.literal(true).optional(),
  created_at: z.string(),
  /** Unique per write: tells our own lost acknowledgement from another writer. */
  write_id: z.string(),
});
export type Step = z.infer<typeof Step>;
