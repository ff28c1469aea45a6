import { z } from "zod";
import { RecordCorrupt } from "../faults/faults.ts";
import { canonicalJson, sha256Hex } from "../operation/canonical-json.ts";
import { PayloadRef, type PayloadStore } from "./payload-store.ts";

/** Above this, a value is stored beside the table: far below DynamoDB's 400 KB item limit even with a request and a result in one item. */
export const inlineBytesMax = 64 * 1024;

/** A JSON value as it lies in an item: its text, or a reference to where the text lies. */
export const PackedValue = z.union([z.object({ json: z.string() }), z.object({ ref: PayloadRef })]);
export type PackedValue = z.infer<typeof PackedValue>;

/** Packs `value` for an item. Sizes are measured in UTF-8 before the write. */
export async function packValue(store: PayloadStore, runId: string, value: unknown): Promise<PackedValue> {
  const json = canonicalJson(value);
  const bytes = Buffer.byteLength(json, "utf8");
  if (bytes <= inlineBytesMax) return { json };
  const sha256 = sha256Hex(json);
  const ref: PayloadRef = { key: `${runId}/${sha256}`, sha256, bytes };
  await store.put(ref, json);
  return { ref };
}

/** @throws RecordCorrupt when the text is not what was stored. */
export async function unpackValue(store: PayloadStore, packed: PackedValue): Promise<unknown> {
  if ("json" in packed) return parse(packed.json, "a stored value");
  const text = await store.get(packed.ref);
  if (sha256Hex(text) !== packed.ref.sha256) {
    throw new RecordCorrupt(`payload ${packed.ref.key}`, "its content does not match its digest");
  }
  return parse(text, `payload ${packed.ref.key}`);
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RecordCorrupt(what, "it is not JSON");
  }
}

/** Digest of the packed value's text, 64 hex characters. */
export const packedDigest = (packed: PackedValue): string =>
  "json" in packed ? sha256Hex(packed.json) : packed.ref.sha256;
