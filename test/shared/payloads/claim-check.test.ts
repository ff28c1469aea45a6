import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  inlineBytesMax,
  packedDigest,
  PackedValue,
  packValue,
  unpackValue,
} from "../../../shared/payloads/claim-check.ts";
import type { PayloadRef, PayloadStore } from "../../../shared/payloads/payload-store.ts";

function memoryStore(): PayloadStore & { readonly puts: { ref: PayloadRef; text: string }[] } {
  const puts: { ref: PayloadRef; text: string }[] = [];
  return {
    puts,
    put: async (ref, text) => void puts.push({ ref, text }),
    get: async (ref) => puts.find((put) => put.ref.key === ref.key)?.text ?? "",
  };
}

describe("a packed value", () => {
  it("lies beside the table from one byte above 64 KiB on, both quotes counted", async () => {
    expect(inlineBytesMax).toBe(65_536);
    const store = memoryStore();
    expect(await packValue(store, "run-1", "a".repeat(65_534))).toEqual({ json: `"${"a".repeat(65_534)}"` });
    expect(store.puts).toEqual([]);
    expect(await packValue(store, "run-1", "a".repeat(65_535))).toMatchObject({ ref: { bytes: 65_537 } });
    expect(store.puts).toHaveLength(1);
  });

  it.each([
    ["two bytes a letter", "é", 32_767],
    ["three bytes a letter", "語", 21_844],
    ["four bytes a letter", "😀", 16_383],
  ])("is measured in UTF-8, not in characters: %s", async (_what, letter, lettersInline) => {
    const store = memoryStore();
    expect(await packValue(store, "run-1", letter.repeat(lettersInline))).toHaveProperty("json");
    expect(await packValue(store, "run-1", letter.repeat(lettersInline + 1))).toHaveProperty("ref");
  });

  it("is measured as it is stored: a control character takes six bytes", async () => {
    const store = memoryStore();
    expect(await packValue(store, "run-1", "\u0001".repeat(10_922))).toHaveProperty("json");
    expect(await packValue(store, "run-1", "\u0001".repeat(10_923))).toHaveProperty("ref");
  });

  it("names where it lies by run and content", async () => {
    const store = memoryStore();
    const packed = await packValue(store, "run-1", { b: "x".repeat(70_000), a: 1 });
    // sha256 of {"a":1,"b":"xxx…"} with 70,000 x
    const sha256 = "fa20f140ddc8dd617a0df395d248cea36ec489de7690176d5f644ea7fb4b68fe";
    expect(packed).toEqual({ ref: { key: `run-1/${sha256}`, sha256, bytes: 70_014 } });
    expect(store.puts[0]?.text).toBe(`{"a":1,"b":"${"x".repeat(70_000)}"}`);
    expect(packedDigest(packed)).toBe(sha256);
  });

  it("comes back as it went in, and its digest ignores the order of keys", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const store = memoryStore();
        const packed = PackedValue.parse(JSON.parse(JSON.stringify(await packValue(store, "run-1", value))));
        expect(await unpackValue(store, packed)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    const store = memoryStore();
    const one = await packValue(store, "run-1", { a: 1, b: 2 });
    const other = await packValue(store, "run-2", { b: 2, a: 1 });
    expect(packedDigest(one)).toBe(packedDigest(other));
  });

  it("is written only once its text is: a refused put leaves no reference", async () => {
    const refusing: PayloadStore = { ...memoryStore(), put: () => Promise.reject(new Error("disk full")) };
    await expect(packValue(refusing, "run-1", "x".repeat(70_000))).rejects.toThrow("disk full");
  });

  it("that is not JSON is refused before anything is written", async () => {
    const store = memoryStore();
    await expect(packValue(store, "run-1", undefined)).rejects.toMatchObject({ code: "not_json" });
    await expect(packValue(store, "run-1", { amount: Number.NaN })).rejects.toMatchObject({ code: "not_json" });
    expect(store.puts).toEqual([]);
  });

  it("whose stored text is broken is an error, never other data", async () => {
    await expect(unpackValue(memoryStore(), { json: '{"a":' })).rejects.toMatchObject({ code: "record_corrupt" });
  });

  it.each([[{}], [{ json: 1 }], [{ ref: { key: "k" } }], [{ ref: { key: "k", sha256: "s", bytes: -1 } }], ["{}"]])(
    "is not read from %j",
    (stored) => {
      expect(PackedValue.safeParse(stored).success).toBe(false);
    },
  );
});
