import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { cachedKeyRing } from "../../../shared/link/cached-key-ring.ts";
import { fileKeyRing } from "../../../shared/link/file-key-ring.ts";
import { type KeyRing, parseKeyRing } from "../../../shared/link/key-ring.ts";
import { ManualClock } from "../../builders/manual-clock.ts";

const base64 = (byte: number, bytes = 32) => Buffer.alloc(bytes, byte).toString("base64");

describe("a key ring", () => {
  it("is the current key's name and every key that still verifies", () => {
    const { current, keys } = parseKeyRing(JSON.stringify({ current: "b", keys: { a: base64(1), b: base64(2) } }));

    expect(current).toBe("b");
    expect([...keys]).toEqual([
      ["a", Buffer.alloc(32, 1)],
      ["b", Buffer.alloc(32, 2)],
    ]);
  });

  it("may hold its first key beside the others, where CloudFormation can make one up", () => {
    const generated = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz01";
    const { current, keys } = parseKeyRing(`{"current":"initial","keys":{},"initial":"${generated}"}`);

    expect(current).toBe("initial");
    expect(keys.get("initial")).toHaveLength(48);
  });

  it.each([
    ["nothing", "", /expected JSON like/u],
    ["no current key", { keys: { a: base64(1) } }, /expected JSON like/u],
    ["a current key that it lacks", { current: "b", keys: { a: base64(1) } }, /"current" names "b", which is none/u],
    ["a short key", { current: "a", keys: { a: base64(1, 31) } }, /key "a": expected base64 of at least 32 bytes/u],
    ["text that is no base64", { current: "a", keys: { a: `${"é".repeat(60)}` } }, /key "a": expected base64/u],
    ["a name with a dot", { current: "a", keys: { a: base64(1), "b.c": base64(2) } }, /key names of 1 to 32/u],
    [
      "nine keys",
      { current: "k1", keys: Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`k${n}`, base64(n)])) },
      /at most 8 keys, found 9/u,
    ],
  ])("is refused with %s, and its keys are not quoted", (_what, stored, message) => {
    const text = typeof stored === "string" ? stored : JSON.stringify(stored);
    const refused = () => parseKeyRing(text);

    expect(refused).toThrow(message);
    expect(refused).not.toThrow(new RegExp(base64(1).slice(0, 20)));
  });
});

describe("a key ring in a file", () => {
  it("is read anew each time, and its absence names no path", async () => {
    const folder = mkdtempSync(join(tmpdir(), "surefoot-keys-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "keys.json");
    const source = fileKeyRing(file);

    await expect(source.read()).rejects.toMatchObject({ code: "key_ring_unreadable", failureClass: "retryable" });
    writeFileSync(file, JSON.stringify({ current: "a", keys: { a: base64(1) } }));
    expect((await source.read()).current).toBe("a");
  });
});

describe("a kept key ring", () => {
  const minute = 60_000;
  function keptRing() {
    const clock = new ManualClock();
    const state = { reads: 0, kids: ["a"], fails: false };
    const rings = cachedKeyRing(
      {
        async read(): Promise<KeyRing> {
          state.reads++;
          if (state.fails) throw new Error("no answer");
          return { current: state.kids[0] ?? "", keys: new Map(state.kids.map((kid) => [kid, Buffer.alloc(32)])) };
        },
      },
      clock,
    );
    return { clock, state, rings };
  }

  it("is read once in five minutes, also by many at once", async () => {
    const { clock, state, rings } = keptRing();
    await Promise.all([rings.current(), rings.current(), rings.holding("a")]);
    clock.advance(5 * minute - 1);
    await rings.current();
    expect(state.reads).toBe(1);

    clock.advance(1);
    await rings.current();
    expect(state.reads).toBe(2);
  });

  it("forgets a removed key after five minutes", async () => {
    const { clock, state, rings } = keptRing();
    state.kids = ["b", "a"];
    expect((await rings.holding("a")).keys.has("a")).toBe(true);
    state.kids = ["b"];
    clock.advance(5 * minute);

    expect((await rings.holding("a")).keys.has("a")).toBe(false);
  });

  it("finds a key that was added meanwhile, and names that nobody ever had cost one read in ten seconds", async () => {
    const { clock, state, rings } = keptRing();
    await rings.current();
    state.kids = ["b", "a"];
    clock.advance(10_000);
    expect((await rings.holding("b")).current).toBe("b");
    for (let n = 0; n < 50; n++) await rings.holding(`made-up-${n}`);

    expect(state.reads).toBe(2);
  });

  it("keeps no failure", async () => {
    const { state, rings } = keptRing();
    state.fails = true;
    await expect(rings.current()).rejects.toThrow("no answer");
    state.fails = false;

    expect((await rings.current()).current).toBe("a");
  });
});
