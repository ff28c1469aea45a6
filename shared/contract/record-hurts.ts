import { isCompensation, writeUndoneBy } from "../agent/compensation.ts";
import { contractNode, reachable } from "./contract-graph.ts";
import type { Hurt } from "./hurt.ts";
import type { Manifest } from "./manifest.ts";
import type { Foothold } from "./foothold.ts";

/** A record is reused only by a node with the same name, kind and fingerprint. */
export function recordHurts(recorded: Manifest, current: Manifest, foothold: Foothold): readonly Hurt[] {
  return foothold.passed.flatMap((record): readonly Hurt[] => {
    const hurt = (because: string): readonly Hurt[] => {
      const again = madeAgain(recorded, current, foothold, record.node);
      const node = writeUndoneBy(record.node) ?? record.node;
      const runs = { where: "after", node: record.node } as const;
      return [
        again
          ? { node, runs: { where: "asked at", node: foothold.node }, verdict: "reapprove", ...again }
          : { node, runs, verdict: "incompatible", because },
      ];
    };
    const now = contractNode(current, writeUndoneBy(record.node) ?? record.node);
    if (!now) return hurt(`they have the result of ${record.node}, which is not there any more`);
    if (isCompensation(record.node)) {
      const same = now.details["compensation_record"] === record.fingerprint;
      return same ? [] : hurt(`they have taken ${now.name} back in another way`);
    }
    if (now.kind !== record.kind)
      return hurt(`they have ${record.node} recorded as ${record.kind}, not as ${now.kind}`);
    return now.fingerprint === record.fingerprint
      ? []
      : hurt(`they have the result of ${record.node} as it was before: a record is never reused by another definition`);
  });
}

/**
 * A person was asked about what a model wrote, and the model is asked in other words now. Its answer still fits, so it can be made again,
 * and the person asked again: but not past a write, which has used it already.
 */
function madeAgain(
  recorded: Manifest,
  current: Manifest,
  foothold: Foothold,
  name: string,
): Pick<Hurt, "because" | "question" | "from"> | undefined {
  const [before, now] = [contractNode(recorded, name), contractNode(current, name)];
  const onlyAskedOtherwise =
    before?.kind === "model" && now?.kind === "model" && before.details["output"] === now.details["output"];
  const onTheWay = foothold.edges.some(({ from }) => from === name);
  if (!foothold.asked || !onlyAskedOtherwise || !onTheWay) return undefined;
  const after = reachable(recorded, name, [foothold.node]);
  const used = foothold.passed.some(({ node, kind }) => kind === "write" && after.has(node));
  if (used) return undefined;
  return {
    because: `what they show was written by ${name} as it was before`,
    question: true,
    from: name,
  };
}
