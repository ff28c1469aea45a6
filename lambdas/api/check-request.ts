import { z } from "zod";
import { BadRequest } from "../../shared/faults/faults.ts";

/** Parses what a caller sent. @throws BadRequest that names each field, what was expected and what came; `consequence` ends it. */
export function checkRequest<S extends z.ZodType>(schema: S, value: unknown, consequence = ""): z.infer<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => problemOf(issue, schema)).join("; ");
  throw new BadRequest("invalid_request", consequence === "" ? problems : `${problems}. ${consequence}`);
}

function problemOf(issue: z.core.$ZodIssue, schema: z.ZodType): string {
  const place = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const known = schema instanceof z.ZodObject ? Object.keys(schema.shape).join(", ") : "";
    return `unknown ${issue.keys.map((key) => `"${key}"`).join(", ")}: expected only ${known}`;
  }
  const missing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  if (missing) return `${place} is missing`;
  return `${place === "" ? "body" : place}: ${issue.message}`;
}

/** One of a few words, named where another one comes. */
export const oneOf = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, { error: ({ input }) => `expected one of ${words.join(", ")}, found ${JSON.stringify(input)}` });

/** A whole number in a query, `1` to `max`. */
export const countUpTo = (max: number) =>
  z
    .string()
    .refine((text) => /^\d{1,9}$/u.test(text) && Number(text) >= 1 && Number(text) <= max, {
      error: ({ input }) => `expected a whole number from 1 to ${max}, found ${JSON.stringify(input)}`,
    })
    .transform(Number);
