import { z } from "zod";
import { digestOf } from "../operation/canonical-json.ts";

/** A schema as JSON, without what changes nothing: words for people, and the order in which fields were written. */
export type SchemaMeaning = Readonly<Record<string, unknown>>;

/** @throws Error for a schema that JSON cannot say; `checkSchema` has refused those. */
export const schemaMeaning = (schema: z.ZodType): SchemaMeaning =>
  meaningOf(z.toJSONSchema(schema, { io: "output" })) as SchemaMeaning; // an object in, an object out

export const schemaDigest = (schema: z.ZodType): string => digestOf(schemaMeaning(schema));

/** Words for people inside a JSON schema: they change nothing. */
const decoration = new Set(["description", "title", "examples", "$schema", "$comment"]);
/** Keywords whose keys are names of fields, which may well be called `description`. */
const namedSchemas = new Set(["properties", "patternProperties", "$defs"]);
/** Keywords that hold values, not schemas. */
const values = new Set(["default", "const", "enum"]);

function meaningOf(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(meaningOf);
  if (typeof schema !== "object" || schema === null) return schema;
  const keywords = Object.entries(schema).filter(([keyword]) => !decoration.has(keyword));
  return Object.fromEntries(keywords.map(([keyword, value]) => [keyword, meaningOfKeyword(keyword, value)]));
}

function meaningOfKeyword(keyword: string, value: unknown): unknown {
  if (values.has(keyword)) return value;
  if (keyword === "required" && Array.isArray(value)) return [...(value as readonly string[])].sort();
  if (!namedSchemas.has(keyword) || typeof value !== "object" || value === null) return meaningOf(value);
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, meaningOf(schema)]));
}
