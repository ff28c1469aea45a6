import { z } from "zod";

/**
 * What a failure says about the outside world.
 * - `retryable`: it did not happen and may work later (429, dependency down, connection refused).
 * - `final`: it did not happen and will not (invalid parameters, permission, business rejection).
 * - `unknown`: it may have happened (timeout or reset after sending, 5xx from a write).
 */
export const FailureClass = z.enum(["retryable", "final", "unknown"]);
export type FailureClass = z.infer<typeof FailureClass>;
