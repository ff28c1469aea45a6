/** Data that flows between states. Treated as immutable: whoever changes it copies first. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textBytes(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** What a value looks like after it crossed the wire: a fresh copy, with `undefined` as null (as Lambda answers it). */
export function throughJson(value: unknown): Json {
  // JSON.parse returns `any`; what it parsed is Json by construction.
  return JSON.parse(JSON.stringify(value ?? null) ?? "null") as Json;
}
