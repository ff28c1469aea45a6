import { z } from "zod";
import { FaultRecord } from "../faults/fault.ts";

/** What a person is asked about an operation: the subject of a `resolution` or `delivery` waiter. */
export const ResolutionSubject = z.object({
  action_name: z.string(),
  /** Why it is in doubt; absent where it is simply a person's to do. */
  error: FaultRecord.optional(),
  /** JSON schema of what the tool would have answered. */
  result_schema: z.record(z.string(), z.unknown()),
  /** Whether the tool can make its answer from a reference alone. */
  reference_suffices: z.boolean(),
});
export type ResolutionSubject = z.infer<typeof ResolutionSubject>;
