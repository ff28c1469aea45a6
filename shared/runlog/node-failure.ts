import { z } from "zod";
import { FaultRecord } from "../faults/fault.ts";
import { Position } from "./position.ts";

/** Failed attempts of one node at one position: how many, the last one's error, and when the next may start. */
export const NodeFailure = z.object({
  run_id: z.string(),
  position: Position,
  node: z.string(),
  attempts: z.number().int().positive(),
  error: FaultRecord,
  not_before: z.string().optional(),
  updated_at: z.string(),
});
export type NodeFailure = z.infer<typeof NodeFailure>;
