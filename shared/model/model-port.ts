import type { z } from "zod";
import type { TokenUsage } from "../runlog/step.ts";

export interface ModelRequest {
  /** Name in the deployment's model settings. */
  readonly model: string;
  /** Name of the node; providers get it as the schema's name. `[A-Za-z0-9_-]`. */
  readonly name: string;
  readonly instructions: string;
  /** JSON text of what the node sees. */
  readonly data: string;
  readonly output: z.ZodType;
  readonly outputTokensMax: number;
  readonly signal: AbortSignal;
}

export interface ModelAnswer {
  /** Parsed by the request's schema. */
  readonly output: unknown;
  readonly usage: TokenUsage;
}

/**
 * One request to one model, no retries inside: the state machine owns them.
 * @throws Fault `model_invalid_answer` (retryable) when the answer does not fit the schema, or as classified otherwise.
 */
export interface ModelPort {
  answer(request: ModelRequest): Promise<ModelAnswer>;
}
