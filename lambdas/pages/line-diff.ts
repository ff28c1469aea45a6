/** A run of lines that are the same, were taken out, or were put in. */
export interface DiffPart {
  readonly kind: "same" | "removed" | "added";
  readonly lines: readonly string[];
}

/** Pairs of lines that are compared at most: a second of work would be a page that never comes. Beyond it the middle is shown as replaced. */
const pairsMax = 1_000_000;

/** What changed from one text to the other, line by line, with as few changed lines as there can be. */
export function lineDiff(before: string, after: string): readonly DiffPart[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return merged([
    { kind: "same", lines: a.slice(0, start) },
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    { kind: "same", lines: a.slice(a.length - end) },
  ]);
}

/** No text at all has no lines; otherwise a line break at the very end ends the last one and begins none. */
const linesOf = (text: string): readonly string[] => (text === "" ? [] : text.replace(/\n$/u, "").split("\n"));

function middle(a: readonly string[], b: readonly string[]): readonly DiffPart[] {
  if (a.length * b.length > pairsMax || a.length === 0 || b.length === 0) {
    return [
      { kind: "removed", lines: a },
      { kind: "added", lines: b },
    ];
  }
  const common = commonFrom(a, b);
  const at = (i: number, j: number) => common[i * (b.length + 1) + j] ?? 0;
  const parts: DiffPart[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      parts.push({ kind: "same", lines: [a[i++] ?? ""] });
      j++;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      parts.push({ kind: "removed", lines: [a[i++] ?? ""] });
    } else {
      parts.push({ kind: "added", lines: [b[j++] ?? ""] });
    }
  }
  return parts;
}

/** For each pair of places, how many lines the rests behind them have in common at most. */
function commonFrom(a: readonly string[], b: readonly string[]): Uint32Array {
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] =
        a[i] === b[j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0);
    }
  }
  return common;
}

/** Neighbours of one kind are one part, and empty ones none. */
function merged(parts: readonly DiffPart[]): readonly DiffPart[] {
  const result: { kind: DiffPart["kind"]; lines: string[] }[] = [];
  for (const { kind, lines } of parts) {
    if (lines.length === 0) continue;
    const last = result.at(-1);
    if (last?.kind === kind) last.lines.push(...lines);
    else result.push({ kind, lines: [...lines] });
  }
  return result;
}
