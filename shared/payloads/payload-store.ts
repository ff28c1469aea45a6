import { z } from "zod";

/** Where a large value lies. `key` is `<run_id>/<sha256>`, `bytes` counts UTF-8. */
export const PayloadRef = z.object({ key: z.string(), sha256: z.string(), bytes: z.number().int().nonnegative() });
export type PayloadRef = z.infer<typeof PayloadRef>;

/** Large values, addressed by content and never changed. Writing the same value twice is harmless. */
export interface PayloadStore {
  put(ref: PayloadRef, text: string): Promise<void>;
  /** @throws Fault `payload_missing` when nothing lies there. */
  get(ref: PayloadRef): Promise<string>;
}
