import { isCompensation, writeUndoneBy } from "../agent/compensation.ts";
import { toolOf } from "./contract-changes.ts";
import { contractNode } from "./contract-graph.ts";
import { mattering } from "./detail-changes.ts";
import type { Hurt } from "./hurt.ts";
import type { Manifest, NodeContract } from "./manifest.ts";
import { toolDetailMatters } from "./node-details.ts";
import type { Foothold } from "./foothold.ts";

/** What has begun is ended by what began it: another definition might take it for another operation, and do it a second time. */
export function operationHurts(recorded: Manifest, current: Manifest, foothold: Foothold): readonly Hurt[] {
  return foothold.begun.flatMap((begun): readonly Hurt[] => {
    const name = writeUndoneBy(begun) ?? begun;
    const [was, now] = [contractNode(recorded, name), contractNode(current, name)];
    const hurt = (because: string): readonly Hurt[] => [
      { node: name, runs: { where: "begun at", node: begun }, verdict: "incompatible", because, unmovable: true },
    ];
    if (!now) return hurt(`their ${begun} may have reached the outside, and is not there any more`);
    const print = (node: NodeContract | undefined) =>
      isCompensation(begun) ? node?.details["compensation_record"] : node?.fingerprint;
    const sameRecord = was?.kind === now.kind && print(was) === print(now);
    const sameDelivery =
      mattering(
        toolOf(recorded, was)?.details ?? {},
        toolOf(current, now)?.details ?? {},
        "operation",
        toolDetailMatters,
      ).length === 0;
    return sameRecord && sameDelivery
      ? []
      : hurt(`their ${begun} may have reached the outside, and only the definition that began it can tell`);
  });
}
