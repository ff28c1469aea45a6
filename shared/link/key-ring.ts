import { z } from "zod";
import { Fault } from "../faults/fault.ts";

/** Bytes of a key: as many as SHA-256 gives, beyond which HMAC gains nothing, below which it loses (RFC 2104, section 3). */
const keyBytesMin = 32;
/** Keys that verify at once: the current one, the one before, and room for a rotation that was begun twice. */
const keysMax = 8;

/** Name of a key. It stands in every link, so that a rotation finds the right one. */
const Kid = z.string().regex(/^[A-Za-z0-9_-]{1,32}$/u);

/** `current` signs; every key verifies until it is removed. */
export interface KeyRing {
  readonly current: string;
  readonly keys: ReadonlyMap<string, Buffer>;
}

/** Where the key ring is kept. */
export interface KeyRingSource {
  /** @throws Fault where it cannot be read, or is none. */
  read(): Promise<KeyRing>;
}

/**
 * `{ "current": kid, "keys": { kid: base64 } }`. A key may also lie beside `current`, since CloudFormation can make up a text only there.
 */
const Stored = z
  .object({ current: Kid, keys: z.record(z.string(), z.string()).default({}) })
  .catchall(z.string())
  .transform(({ current, keys, ...beside }) => ({ current, keys: { ...beside, ...keys } }));

/** @throws Fault `key_ring_invalid`, whose message never quotes what was read: it holds keys. */
export function parseKeyRing(text: string): KeyRing {
  const stored = Stored.safeParse(jsonOf(text));
  if (!stored.success) throw invalid('expected JSON like {"current":"k1","keys":{"k1":"<base64 of 32 bytes>"}}');
  const { current, keys } = stored.data;
  const ring = new Map<string, Buffer>();
  for (const [kid, base64] of Object.entries(keys)) {
    const key = Buffer.from(base64, "base64");
    const isBase64 = key.toString("base64").replace(/=+$/u, "") === base64.replace(/=+$/u, "");
    if (!Kid.safeParse(kid).success) throw invalid("expected key names of 1 to 32 of A-Z a-z 0-9 _ -");
    if (!isBase64 || key.length < keyBytesMin) {
      throw invalid(
        `key "${kid}": expected base64 of at least ${keyBytesMin} bytes: openssl rand -base64 32 makes one`,
      );
    }
    ring.set(kid, key);
  }
  if (ring.size > keysMax) throw invalid(`expected at most ${keysMax} keys, found ${ring.size}: remove the oldest`);
  if (!ring.has(current)) throw invalid(`"current" names "${current}", which is none of its keys`);
  return { current, keys: ring };
}

const invalid = (what: string): Fault =>
  new Fault("key_ring_invalid", "final", `the key ring of review links: ${what}`);

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
