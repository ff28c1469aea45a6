import { z } from "zod";

/** Recorded results are JSON: a schema that JSON cannot carry would come back as other data. */
export function checkSchema(schema: z.ZodType, wrong: (problem: string) => never): void {
  const problem = problemOf(schema);
  if (problem !== undefined)
    wrong(`JSON cannot carry it (${problem}): use strings, numbers, booleans, null, arrays and objects`);
}

function problemOf(schema: z.ZodType): string | undefined {
  try {
    z.toJSONSchema(schema, { io: "output" });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return mayBeNothing(schema) ? "it may be undefined; null says so in JSON" : undefined;
}

/** JSON has no word for undefined outside of objects. A schema for anything at all is left to the value. */
function mayBeNothing(schema: z.ZodType): boolean {
  if (schema instanceof z.ZodUnknown || schema instanceof z.ZodAny) return false;
  try {
    const nothing = schema.safeParse(undefined);
    return nothing.success && nothing.data === undefined;
  } catch {
    // A check that answers asynchronously, or throws: it decides when there is a value.
    return false;
  }
}
