import { randomBytes } from "node:crypto";
import type { Ids } from "../../shared/ports/ids.ts";

/** 32 letters without look-alikes: five bits each, and ids are read aloud at 3 a.m. */
const alphabet = "abcdefghjkmnpqrstuvwxyz023456789";
const idChars = 20;

/** 100 random bits. */
export const systemIds: Ids = {
  next: () => [...randomBytes(idChars)].map((byte) => alphabet[byte % alphabet.length]).join(""),
};
