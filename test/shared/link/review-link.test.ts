import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { KeyRing } from "../../../shared/link/key-ring.ts";
import {
  formToken,
  isFormToken,
  kidOf,
  type LinkClaim,
  openLink,
  signLink,
  tokenCharsMax,
} from "../../../shared/link/review-link.ts";

const ringOf = (current: string, ...kids: readonly string[]): KeyRing => ({
  current,
  keys: new Map([current, ...kids].map((kid) => [kid, Buffer.alloc(32, kid)])),
});
const ring = ringOf("k1");
const nowMs = Date.UTC(2026, 8, 2, 12);
const claim: LinkClaim = {
  approval_id: "agt_1:0004.gather/a/0000.review",
  approver: "ann@example.com",
  asked: "d".repeat(64),
  expires_at: nowMs / 1_000 + 60,
};
const token = signLink(claim, ring);
const [kid, body, mac] = token.split(".") as [string, string, string];
const signed = (text: string, key = ring.keys.get("k1")!, purpose = "surefoot/review-link/1") =>
  `${text}.${createHmac("sha256", key).update(`${purpose}\n${text}`).digest("base64url")}`;

describe("a link", () => {
  it("says what it is good for, in characters that a path takes as they are", () => {
    expect(openLink(token, ring, nowMs)).toEqual({ claim });
    expect(token).toMatch(/^[\w.-]+$/u);
    expect(kidOf(token)).toBe("k1");
  });

  it("is a published scheme: HMAC-SHA256 over the key's name and the claim", () => {
    expect(token).toBe(signed(`k1.${Buffer.from(JSON.stringify(claim)).toString("base64url")}`));
  });

  it("is good to its last second, and then says whose it was", () => {
    expect(openLink(token, ring, nowMs + 60_000)).toEqual({ claim });
    expect(openLink(token, ring, nowMs + 60_001)).toEqual({ refused: "expired", claim });
  });

  it("outlives a rotation until its key is removed, and no key of another name or content opens it", () => {
    expect(openLink(token, ringOf("k2", "k1"), nowMs)).toEqual({ claim });
    expect(openLink(token, ringOf("k2"), nowMs)).toEqual({ refused: "key_unknown" });
    expect(openLink(token, { current: "k1", keys: new Map([["k1", Buffer.alloc(32, 9)]]) }, nowMs)).toEqual({
      refused: "forged",
    });
    const renamed = `k2.${body}.${mac}`;
    expect(openLink(renamed, { current: "k2", keys: new Map([["k2", Buffer.alloc(32, "k1")]]) }, nowMs)).toEqual({
      refused: "forged",
    });
  });

  it("is forged with any one bit of claim or signature changed", () => {
    const bits = [...body].flatMap((_, at) => [at]).filter((at) => at % 7 === 0);
    for (const at of bits) {
      const other = body[at] === "A" ? "B" : "A";
      const changed = `${kid}.${body.slice(0, at)}${other}${body.slice(at + 1)}.${mac}`;
      expect(openLink(changed, ring, nowMs)).toEqual({ refused: "forged" });
    }
    for (let at = 0; at < mac.length; at++) {
      const other = mac[at] === "A" ? "B" : "A";
      expect(openLink(`${kid}.${body}.${mac.slice(0, at)}${other}${mac.slice(at + 1)}`, ring, nowMs)).toEqual({
        refused: "forged",
      });
    }
  });

  it.each([
    ["nothing", ""],
    ["a word", "hello"],
    ["a signature cut by a mail program", token.slice(0, -1)],
    ["something behind it", `${token}x`],
    ["a fourth part", `${token}.x`],
    ["a space", `${kid} .${body}.${mac}`],
    ["more characters than any link has", `${kid}.${"A".repeat(tokenCharsMax)}.${mac}`],
    ["a claim of another shape", signed(`k1.${Buffer.from('{"approval_id":"a"}').toString("base64url")}`)],
    ["a claim that is no JSON", signed(`k1.${Buffer.from("approve").toString("base64url")}`)],
  ])("is malformed as %s", (_what, text) => {
    expect(openLink(text, ring, nowMs)).toEqual({ refused: "malformed" });
  });

  it("is never a form token, nor the other way round", () => {
    expect(isFormToken(`${kid}.${mac}`, token, "v1", ring)).toBe(false);
    const form = formToken(token, "v1", ring);
    expect(openLink(`k1.${body}.${form.split(".")[1]}`, ring, nowMs)).toEqual({ refused: "forged" });
  });
});

describe("a form token", () => {
  const form = formToken(token, "v1", ring);

  it("belongs to one link and to one version", () => {
    expect(isFormToken(form, token, "v1", ring)).toBe(true);
    expect(isFormToken(form, token, "v2", ring)).toBe(false);
    expect(isFormToken(form, signLink({ ...claim, approver: "bob@example.com" }, ring), "v1", ring)).toBe(false);
  });

  it("outlives a rotation until its key is removed", () => {
    expect(isFormToken(form, token, "v1", ringOf("k2", "k1"))).toBe(true);
    expect(isFormToken(form, token, "v1", ringOf("k2"))).toBe(false);
  });

  it.each(["", "k1", "k1.", `${form}.x`, `k2.${form.split(".")[1]}`, form.slice(0, -1)])("is not %j", (text) => {
    expect(isFormToken(text, token, "v1", ring)).toBe(false);
  });
});
