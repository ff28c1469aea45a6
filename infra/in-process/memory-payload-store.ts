import { Fault } from "../../shared/faults/fault.ts";
import type { PayloadStore } from "../../shared/payloads/payload-store.ts";

/** Large values in memory, by key. */
export function memoryPayloadStore(texts: Map<string, string> = new Map()): PayloadStore {
  return {
    async put(ref, text) {
      texts.set(ref.key, text);
    },
    async get(ref) {
      const text = texts.get(ref.key);
      if (text !== undefined) return text;
      throw new Fault(
        "payload_missing",
        "final",
        `payload ${ref.key} is not in memory: it was deleted or never written`,
      );
    },
  };
}
