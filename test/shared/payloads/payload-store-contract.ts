import { afterAll, beforeAll, expect, it } from "vitest";
import { Fault } from "../../../shared/faults/fault.ts";
import { packValue, unpackValue } from "../../../shared/payloads/claim-check.ts";
import type { PayloadStore } from "../../../shared/payloads/payload-store.ts";

/** A store, and the outside's view of it: what lies there, and how it comes to harm. */
export interface StoreUnderTest {
  readonly store: PayloadStore;
  /** Replaces what lies at `key` behind the store's back. */
  readonly tamper: (key: string, text: string) => Promise<void>;
  readonly keys: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

/** What every payload store promises. */
export function payloadStoreContract(open: () => Promise<StoreUnderTest>): void {
  let under: StoreUnderTest;
  beforeAll(async () => {
    under = await open();
  });
  afterAll(() => under.close());

  const large = (letter: string) => ({ text: letter.repeat(70_000) });

  it("gives back what was put, in any script, at the largest size a tool may return", async () => {
    const value = { text: 'é😀\u0000"\\\n' + "ü".repeat(3_000_000) };
    const packed = await packValue(under.store, "run-1", value);
    expect(packed).toMatchObject({ ref: { bytes: 6_000_029 } });
    expect(await unpackValue(under.store, packed)).toEqual(value);
  });

  it("puts the same value twice at one place, at once and one after the other", async () => {
    const before = (await under.keys()).length;
    const packed = await Promise.all(Array.from({ length: 8 }, () => packValue(under.store, "run-2", large("a"))));
    packed.push(await packValue(under.store, "run-2", large("a")));
    expect(new Set(packed.map((one) => JSON.stringify(one))).size).toBe(1);
    expect((await under.keys()).length).toBe(before + 1);
    expect(await unpackValue(under.store, packed[0]!)).toEqual(large("a"));
  });

  it("keeps the values of one run apart from another's", async () => {
    const [one, other] = await Promise.all([
      packValue(under.store, "run-3", large("b")),
      packValue(under.store, "run-4", large("b")),
    ]);
    expect("ref" in one && one.ref.key).toMatch(/^run-3\/[0-9a-f]{64}$/u);
    expect("ref" in other && other.ref.key).toMatch(/^run-4\/[0-9a-f]{64}$/u);
  });

  it("says that nothing lies there, with the key and what may have happened", async () => {
    const ref = { key: `run-5/${"0".repeat(64)}`, sha256: "0".repeat(64), bytes: 70_000 };
    const missing = unpackValue(under.store, { ref });
    await expect(missing).rejects.toBeInstanceOf(Fault);
    await expect(missing).rejects.toMatchObject({
      code: "payload_missing",
      failureClass: "final",
      message: expect.stringMatching(/^payload run-5\/0{64} is not in .*: it was deleted or never written$/u),
    });
  });

  it.each([
    ["other JSON", JSON.stringify(large("y"))],
    ["less of it", JSON.stringify(large("x")).slice(0, 1_000)],
    ["nothing", ""],
  ])("never gives %s in place of what was put", async (_what, harm) => {
    const packed = await packValue(under.store, "run-6", large("x"));
    await under.tamper("ref" in packed ? packed.ref.key : "", harm);
    await expect(unpackValue(under.store, packed)).rejects.toMatchObject({
      code: "record_corrupt",
      name: "RecordCorrupt",
      message: expect.stringContaining("its content does not match its digest"),
    });
  });
}
