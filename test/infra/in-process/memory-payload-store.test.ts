import { describe } from "vitest";
import { memoryPayloadStore } from "../../../infra/in-process/memory-payload-store.ts";
import { payloadStoreContract } from "../../shared/payloads/payload-store-contract.ts";

describe("a payload store in memory", () => {
  payloadStoreContract(async () => {
    const texts = new Map<string, string>();
    return {
      store: memoryPayloadStore(texts),
      tamper: async (key, text) => void texts.set(key, text),
      keys: async () => [...texts.keys()],
      close: async () => undefined,
    };
  });
});
