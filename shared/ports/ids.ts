/** Chance enters here and nowhere else. */
export interface Ids {
  /** At least 80 random bits in `[0-9a-z]`, never repeated: write ids, attempt tokens, run ids. */
  next(): string;
}
