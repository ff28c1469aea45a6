export type BatchVerdict =
  | { readonly kind: "read"; readonly failedIds: ReadonlySet<string> }
  /** Lambda takes the entire batch as failed. */
  | { readonly kind: "invalid"; readonly why: string };

/**
 * Reads what a function returned for a batch, with `ReportBatchItemFailures` on, by Lambda's published conditions: nothing, null, an
 * object without `batchItemFailures`, null or an empty list in it mean that all succeeded; an identifier that is missing, empty, null or not
 * of this batch fails all of it. What those conditions leave open (a text, a list that is none) fails all of it too: nothing is lost by a repeat.
 */
export function readBatchResponse(returned: unknown, messageIds: readonly string[]): BatchVerdict {
  const failures = returned ?? {};
  if (typeof failures !== "object" || Array.isArray(failures)) return invalid("an object", failures);
  const list = "batchItemFailures" in failures ? (failures.batchItemFailures ?? []) : [];
  if (!Array.isArray(list)) return invalid("a list in batchItemFailures", list);

  const failedIds = new Set<string>();
  for (const item of list as readonly unknown[]) {
    const id = typeof item === "object" && item !== null && "itemIdentifier" in item ? item.itemIdentifier : undefined;
    const known = typeof id === "string" && messageIds.includes(id);
    if (!known) return invalid(`an itemIdentifier out of ${messageIds.join(", ")}`, item);
    failedIds.add(id);
  }
  return { kind: "read", failedIds };
}

/** Enough to recognise a wrong answer. */
const shownCharacters = 200;

function invalid(expected: string, found: unknown): BatchVerdict {
  const shown = JSON.stringify(found)?.slice(0, shownCharacters) ?? typeof found;
  return {
    kind: "invalid",
    why: `expected ${expected}, found ${shown}: return { batchItemFailures: [{ itemIdentifier }] }`,
  };
}
