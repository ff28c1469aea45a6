import { z } from "zod";
import { sha256Hex } from "./canonical-json.ts";

/** The name of one logical side effect: ledger key, downstream idempotency key, queue deduplication id. 32 hex characters. */
export const OperationId = z
  .string()
  .regex(/^[0-9a-f]{32}$/u)
  .brand<"OperationId">();
export type OperationId = z.infer<typeof OperationId>;

/**
 * `sha256(scope + ":" + step + ":" + business_key)`, first 32 hex characters.
 * `scope` is the run id, or the workflow id for tools that declare `scope: "workflow"`; it holds no colon, so no two triples spell the same text.
 */
export const operationId = (scope: string, step: string, businessKey: string): OperationId =>
  OperationId.parse(sha256Hex(`${scope}:${step}:${businessKey}`).slice(0, 32));
