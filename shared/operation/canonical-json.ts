import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { Fault } from "../faults/fault.ts";

/** RFC 8785 canonical JSON text: key order, `1.0` for `1` and whitespace make no difference. @throws Fault `not_json` when `value` is not JSON. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) {
    throw new Fault("not_json", "final", `expected a JSON value, found ${typeof value}: return plain data`);
  }
  return text;
}

/** SHA-256 of UTF-8 `text`, 64 hex characters. */
export const sha256Hex = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

/** Digest of a JSON value that ignores key order and number spelling, 64 hex characters. */
export const digestOf = (value: unknown): string => sha256Hex(canonicalJson(value));
