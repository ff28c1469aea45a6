import { readFile } from "node:fs/promises";
import { Fault } from "../faults/fault.ts";
import { type KeyRingSource, parseKeyRing } from "./key-ring.ts";

/** The key ring in a file, where there is no store of secrets. */
export const fileKeyRing = (file: string): KeyRingSource => ({
  async read() {
    const text = await readFile(file, "utf8").catch((cause) => {
      throw new Fault("key_ring_unreadable", "retryable", "the key ring of review links cannot be read", { cause });
    });
    return parseKeyRing(text);
  },
});
