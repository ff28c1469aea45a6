import { compareAt, type PlaceComparison } from "../../shared/contract/compare-at.ts";
import { compareContracts, type ContractComparison } from "../../shared/contract/compare-contracts.ts";
import { adviceInWords } from "../../shared/contract/contract-words.ts";
import type { Manifest } from "../../shared/contract/manifest.ts";
import type { Foothold } from "../../shared/contract/foothold.ts";
import { contractFile, readReleased } from "./contract-files.ts";
import { contractOfRecord, readRecordedRuns, footholdOfRecord } from "./recorded-run.ts";

/** A run, recorded or open, that would go on under the definition that is checked. */
export interface CheckedRun extends Pick<PlaceComparison, "verdict" | "hurts"> {
  /** A run id, or the file of a recorded run. */
  readonly run: string;
  readonly version: number;
  /** The node at which it stands. */
  readonly at: string;
}

export interface ContractCheck {
  readonly agent: string;
  readonly version: number;
  /** Where this version's contract is, or would be. */
  readonly file: string;
  readonly released: boolean;
  /** Against this version as it was released, and every one before it, newest first. */
  readonly comparisons: readonly ContractComparison[];
  readonly recorded: readonly CheckedRun[];
  /** Only where a deployed stack was asked. */
  readonly live?: readonly CheckedRun[];
  /** What must not go out like this, and what to do. Empty where all is well. */
  readonly problems: readonly string[];
}

/** An open run of a deployed stack, with the contract it was started under, as far as that was kept. */
export interface LiveRun {
  readonly run: string;
  readonly version: number;
  readonly contract: Manifest | undefined;
  readonly foothold: Foothold;
}

export interface CheckContractOptions {
  readonly current: Manifest;
  readonly agentModule: string;
  /** Folder of recorded runs. */
  readonly replayFolder: string;
  readonly live?: readonly LiveRun[];
}

/** Compares an agent as it is defined now with what was released, recorded and started. */
export function checkContract({ current, agentModule, replayFolder, live }: CheckContractOptions): ContractCheck {
  const { workflow_name: agent, workflow_version: version } = current;
  const releases = readReleased(agentModule, agent);
  const comparisons = releases.map(({ manifest }) => compareContracts(manifest, current)).reverse();
  const recorded = readRecordedRuns(replayFolder, agent).map(({ file, run }) =>
    checkRun(
      { run: file, version: run.workflow_version, contract: contractOfRecord(run), foothold: footholdOfRecord(run) },
      current,
    ),
  );
  const liveRuns = live?.map((run) => checkRun(run, current));
  return {
    agent,
    version,
    file: contractFile(agentModule, version),
    released: releases.some((release) => release.version === version),
    comparisons,
    recorded,
    ...(liveRuns && { live: liveRuns }),
    problems: [
      ...comparisons.filter(isBroken).flatMap(brokenRelease),
      ...[...recorded, ...(liveRuns ?? [])].filter((run) => run.version === version && isHurt(run)).map(hurtRun),
    ],
  };
}

function checkRun({ run, version, contract, foothold }: LiveRun, current: Manifest): CheckedRun {
  const place = { run, version, at: foothold.node };
  if (contract) {
    const { verdict, hurts } = compareAt(contract, current, foothold);
    return { ...place, verdict, hurts };
  }
  const because = "its contract was not kept when it was started, so nobody can tell";
  const hurt = {
    node: undefined,
    runs: { where: "at", node: foothold.node },
    verdict: "incompatible",
    because,
  } as const;
  return { ...place, verdict: "incompatible", hurts: [hurt] };
}

/** Whether the run cannot simply go on. One of an earlier version stays there; one of this version would meet other code under its name. */
export const isHurt = ({ verdict }: Pick<CheckedRun, "verdict">): boolean =>
  verdict !== "same" && verdict !== "compatible";

/** A release is a promise: what goes by its name may differ only where no open run can tell. A version that comes after it may differ. */
const isBroken = (comparison: ContractComparison): boolean =>
  comparison.to < comparison.from || (comparison.to === comparison.from && isHurt(comparison));

const brokenRelease = (comparison: ContractComparison): readonly string[] => {
  const { agent, from, to, verdict } = comparison;
  const what =
    to < from
      ? `version ${to} is older than released version ${from}`
      : `version ${from} is not what was released (${verdict})`;
  return adviceInWords({ ...comparison, verdict: "incompatible" }).map((advice) => `${agent}: ${what}: ${advice}`);
};

const hurtRun = ({ run, at, hurts, version }: CheckedRun): string =>
  `${run} of this version ${version}, which stands at ${at}, would not simply go on: ${hurts[0]?.because ?? "its contract differs"}`;
