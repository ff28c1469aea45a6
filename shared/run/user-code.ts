import type { z } from "zod";
import { Fault, isFault } from "../faults/fault.ts";

/** Runs a callback of the agent's definition. Its crash is the agent's fault, named with the node, and no repeat mends it. */
export function userCode<T>(node: string, callback: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    if (isFault(cause)) throw cause;
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Fault("agent_code", "final", `${callback} of node ${node} threw: ${message}`, {
      facts: { node, callback },
      cause,
    });
  }
}

/** @throws Fault `schema_mismatch` naming the node and the fields. */
export function parseOutput(node: string, schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues
    .map((issue) => `${issue.path.join(".") || "value"}: ${issue.message}`)
    .join("; ");
  throw new Fault("schema_mismatch", "final", `node ${node}: the value does not fit its schema: ${problems}`, {
    facts: { node },
  });
}
