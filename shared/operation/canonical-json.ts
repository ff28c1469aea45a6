import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { Fault } from "../faults/fault.ts";

/**
 * RFC 8785 canonical JSON text: key order, `1.0` for `1` and whitespace make no difference. Members that are undefined are left out.
 * @throws Fault `not_json` when `value` is not JSON: NaN, a bigint, a function, a value that contains itself.
 */
export function canonicalJson(value: unknown): string {
  try {
    const text = canonicalize(value);
    const problem = text === undefined ? typeof value : oddMember(value);
    if (text !== undefined && problem === undefined) return text;
    throw new TypeError(problem);
  } catch (cause) {
    const found = cause instanceof Error ? cause.message : String(cause);
    throw new Fault("not_json", "final", `expected a JSON value, found ${found}: return plain data`, { cause });
  }
}

/** What `canonicalize` writes as text that is no JSON. Precondition: the value does not contain itself. */
function oddMember(value: unknown): string | undefined {
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value) && Object.keys(value).length < value.length) return "an array with holes";
  if ("toJSON" in value && typeof value.toJSON === "function") return undefined;
  for (const member of Object.values(value)) {
    const problem = oddMember(member);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** SHA-256 of UTF-8 `text`, 64 hex characters. */
export const sha256Hex = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

/** Digest of a JSON value that ignores key order and number spelling, 64 hex characters. */
export const digestOf = (value: unknown): string => sha256Hex(canonicalJson(value));
