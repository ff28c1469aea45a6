import { END } from "../runlog/step.ts";
import { authorisedBy, contractNode, insertedBetween, promptReleaseOf } from "./contract-graph.ts";
import { mattering } from "./detail-changes.ts";
import type { Hurt, HurtRuns } from "./hurt.ts";
import type { Manifest, NodeContract } from "./manifest.ts";
import { nodeDetailMatters } from "./node-details.ts";
import type { Foothold } from "./foothold.ts";

/** What was asked must still be what is asked, about the same write, with the same consequences. */
export function questionHurts(recorded: Manifest, current: Manifest, foothold: Foothold): readonly Hurt[] {
  const { asked } = foothold;
  return openQuestions(recorded, foothold).flatMap((was): readonly Hurt[] => {
    const open = asked !== undefined && was.name === foothold.node;
    const runs: HurtRuns = open ? { where: "asked at", node: was.name } : { where: "after", node: was.name };
    const hurt = (node: string, verdict: Hurt["verdict"], because: string): Hurt => ({
      node,
      runs,
      verdict,
      because,
      question: true,
    });
    const now = contractNode(current, was.name);
    // Of an answer that is recorded, the record is looked at.
    if (!now?.answers || now.details["of"] !== was.details["of"]) {
      return open
        ? [hurt(was.name, "incompatible", `they were asked about ${String(was.details["of"])}, and are not any more`)]
        : [];
    }
    const hurts: Hurt[] = [];
    const [before, after] = [authorisedBy(recorded, was), authorisedBy(current, now)];
    if (open && asked["approved"] !== now.answers.approved) {
      const skipped = insertedBetween(recorded, current, was.name, asked["approved"] ?? END);
      const because =
        skipped.length > 0
          ? `the approval authorises a ${before.write} that has skipped ${skipped.join(" and ")}`
          : `a yes leads to ${String(asked["approved"])} there, and to ${now.answers.approved} here`;
      hurts.push(hurt(skipped[0] ?? was.name, "incompatible", because));
    } else if (before.shape !== after.shape) {
      const [changed = was.name] = differing(before.between, after.between);
      hurts.push(hurt(changed, "reapprove", `what happens between ${was.name} and ${before.write} has changed`));
    }
    if (open && (asked["rejected"] !== now.answers.rejected || asked["expired"] !== now.answers.expired)) {
      hurts.push(hurt(was.name, "reapprove", "a no, or no answer in time, leads elsewhere than they were told"));
    }
    for (const name of [...before.between, before.write]) {
      const [old, other] = [contractNode(recorded, name), contractNode(current, name)];
      if (old && other && old.kind === other.kind && old.fingerprint !== other.fingerprint) {
        hurts.push(hurt(name, "reapprove", `what was shown is what ${name} would have done before it changed`));
      }
    }
    for (const { node } of foothold.passed) {
      const [release, other] = [promptReleaseOf(recorded, node), promptReleaseOf(current, node)];
      if (release !== undefined && other !== undefined && release !== other) {
        hurts.push(hurt(node, "reapprove", `the answer is bound to release ${release} of the prompt of ${node}`));
      }
    }
    if (mattering(was.details, now.details, "question", nodeDetailMatters).length > 0) {
      hurts.push(hurt(was.name, "reapprove", "who has to be asked, or what the answer relies on, has changed"));
    }
    return hurts;
  });
}

/** Approvals that somebody is asked for now, or whose yes has not led to its write yet. */
export const openQuestions = (recorded: Manifest, foothold: Foothold): readonly NodeContract[] =>
  recorded.nodes.filter((node) => node.answers !== undefined && concerns(recorded, foothold, node));

function concerns(recorded: Manifest, foothold: Foothold, approval: NodeContract): boolean {
  if (foothold.asked && foothold.node === approval.name) return true;
  const yes = approval.answers?.approved ?? END;
  const saidYes = foothold.edges.some(({ from, to }) => from === approval.name && to === yes);
  const { write, between } = authorisedBy(recorded, approval);
  return saidYes && [write, ...between].includes(foothold.node);
}

const differing = (before: readonly string[], after: readonly string[]): readonly string[] => [
  ...after.filter((name) => !before.includes(name)),
  ...before.filter((name) => !after.includes(name)),
];
