import type { PlaceComparison } from "../contract/compare-at.ts";
import { readContract } from "../contract/kept-contract.ts";
import { BadRequest } from "../faults/faults.ts";
import { releaseOf, versionsOf } from "../release/live-release.ts";
import type { Releases } from "../release/releases.ts";
import type { RunHistory } from "../runlog/run-log.ts";
import type { RunMove } from "../runlog/run-record.ts";
import { type ComparePorts, compareRunWith } from "./compare-run.ts";
import { refusalInWords } from "./refuse-version.ts";

export interface PlannedMove {
  readonly to: RunMove;
  /** What moving means for the run. Undefined where it is on that contract already. */
  readonly comparison: PlaceComparison | undefined;
}

/**
 * Looks whether a run may go on under another version, before anything is changed. The version itself looks again when it takes the run
 * over. @throws BadRequest that says which versions there are, or why it may not.
 */
export async function planMove(
  history: RunHistory,
  version: number,
  ports: ComparePorts & { readonly releases: Pick<Releases, "list"> },
): Promise<PlannedMove> {
  const { run } = history;
  const releases = await ports.releases.list(run.agent);
  const release = releaseOf(releases, version);
  if (!release) {
    const known = versionsOf(releases).join(", ");
    throw new BadRequest(
      "unknown_version",
      `expected a deployed version of ${run.agent}${known === "" ? "" : `, one of ${known}`}; found ${version}: surefoot versions ${run.agent} lists them. Nothing was changed`,
      404,
    );
  }
  if (release.retired) {
    throw new BadRequest(
      "version_retired",
      `version ${version} of ${run.agent} was retired by ${release.retired.by}: ${release.retired.reason}. Nothing was changed: choose another one of surefoot versions ${run.agent}`,
      409,
    );
  }
  const to = { state_machine_arn: release.state_machine_arn, workflow_version: version };
  if (release.contract_digest === run.contract_digest) return { to, comparison: undefined };
  const contract = await readContract(release.contract_digest, ports);
  // A release is kept with its contract; where that is gone, the version says itself what it thinks of the run.
  if (!contract) return { to, comparison: undefined };
  const comparison = await compareRunWith(contract, history, ports);
  if (comparison.verdict !== "incompatible") return { to, comparison };
  throw new BadRequest("version_incompatible", `${refusalInWords(run, comparison)}. Nothing was changed`, 409, {
    from_version: comparison.from,
    to_version: comparison.to,
  });
}
