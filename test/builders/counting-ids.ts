import type { Ids } from "../../shared/ports/ids.ts";

let worlds = 0;

/** Ids `w0001n000001`, `w0001n000002`, …: each world of a test file has its own, so that tests share tables and never meet. */
export function countingIds(): Ids {
  const world = String(++worlds).padStart(4, "0");
  let count = 0;
  return { next: () => `w${world}n${String(++count).padStart(6, "0")}` };
}
