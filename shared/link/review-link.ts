import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { KeyRing } from "./key-ring.ts";

/** Characters of a token: an approval's id at its longest in base64, and what stands around it. Anything longer is not ours. */
export const tokenCharsMax = 4_096;

/** What a link is good for: one approval, as it was asked, for one person, until an instant. */
export const LinkClaim = z.strictObject({
  approval_id: z.string(),
  approver: z.string(),
  /** Digest of what was asked. A link to anything that was changed since is refused. */
  asked: z.string(),
  expires_at: z.number().int(),
});
/** `expires_at` in epoch seconds. */
export type LinkClaim = z.infer<typeof LinkClaim>;

/**
 * - `malformed`: cut by a mail program, or made up
 * - `key_unknown`: signed by a key that is no longer, or not yet, in the ring
 * - `forged`: not signed by the key it names
 * - `expired`: its time is over
 */
export type LinkRefusal = "malformed" | "key_unknown" | "forged" | "expired";

export type OpenedLink =
  { readonly claim: LinkClaim } | { readonly refused: Exclude<LinkRefusal, "expired"> } | ExpiredLink;
/** Whose it was is told all the same: its signature is right. */
interface ExpiredLink {
  readonly refused: "expired";
  readonly claim: LinkClaim;
}

/** One purpose a key: a signature of one kind is never one of another. */
const purposes = { link: "surefoot/review-link/1", form: "surefoot/review-form/1" } as const;

/** `<kid>.<claim>.<signature>`, of characters that a URL takes as they are. A secret: whoever has it decides as its approver. */
export function signLink(claim: LinkClaim, ring: KeyRing): string {
  const body = Buffer.from(JSON.stringify(claim)).toString("base64url");
  const signed = `${ring.current}.${body}`;
  return `${signed}.${signature("link", signed, keyOf(ring))}`;
}

/** What a token is good for now, or why it is good for nothing. The signature is checked before anything in it is read. */
export function openLink(token: string, ring: KeyRing, nowMs: number): OpenedLink {
  const { kid, body, given } = partsOf(token) ?? {};
  if (kid === undefined || body === undefined || given === undefined) return { refused: "malformed" };
  const key = ring.keys.get(kid);
  if (!key) return { refused: "key_unknown" };
  if (!isEqual(given, signature("link", `${kid}.${body}`, key))) return { refused: "forged" };
  const claim = LinkClaim.safeParse(jsonOf(Buffer.from(body, "base64url").toString("utf8")));
  if (!claim.success) return { refused: "malformed" };
  const isOver = nowMs > claim.data.expires_at * 1_000;
  return isOver ? { refused: "expired", claim: claim.data } : { claim: claim.data };
}

/** Name of the key a token says it was signed with. */
export const kidOf = (token: string): string | undefined => partsOf(token)?.kid;

/**
 * Proof that a form came from our page for this link and showed this `version`: who only has the link's address, and posts to it, does
 * not have it.
 */
export const formToken = (token: string, version: string, ring: KeyRing): string =>
  `${ring.current}.${signature("form", `${version}\n${token}`, keyOf(ring))}`;

/** Whether `given` is the form token for this link and version, by any key that still verifies. */
export function isFormToken(given: string, token: string, version: string, ring: KeyRing): boolean {
  const [kid = "", mac = "", ...more] = given.split(".");
  const key = ring.keys.get(kid);
  return key !== undefined && more.length === 0 && isEqual(mac, signature("form", `${version}\n${token}`, key));
}

function partsOf(token: string) {
  if (token.length > tokenCharsMax) return undefined;
  const [, kid, body, given] = /^([\w-]{1,32})\.([\w-]+)\.([\w-]{43})$/u.exec(token) ?? [];
  return kid === undefined ? undefined : { kid, body, given };
}

const keyOf = ({ current, keys }: KeyRing): Buffer => {
  const key = keys.get(current);
  if (key) return key;
  throw new RangeError(`the key ring names "${current}", which it does not hold`);
};

const signature = (purpose: keyof typeof purposes, text: string, key: Buffer): string =>
  createHmac("sha256", key).update(`${purposes[purpose]}\n${text}`).digest("base64url");

/** In the same time wherever they differ. Their length is no secret. */
function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
