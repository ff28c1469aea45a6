import { digestOf } from "./canonical-json.ts";

/** What of a request means something: the declared fields only, so that decoration (a description) never invalidates an approval. */
export const semanticPart = (
  request: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): Record<string, unknown> =>
  Object.fromEntries(fields.filter((field) => request[field] !== undefined).map((field) => [field, request[field]]));

/** Digest of the semantic part of a request, 64 hex characters. The ledger's `request_hash` and an approval's `payload_digest`. */
export const requestHash = (request: Readonly<Record<string, unknown>>, fields: readonly string[]): string =>
  digestOf(semanticPart(request, fields));
