import type { Agent } from "../../shared/agent/agent.ts";
import { keepContract } from "../../shared/contract/kept-contract.ts";
import { contractDigest } from "../../shared/contract/manifest.ts";
import { BadRequest } from "../../shared/faults/faults.ts";
import type { PayloadStore } from "../../shared/payloads/payload-store.ts";
import { type Clock, isoTime } from "../../shared/ports/clock.ts";
import { retirementIn } from "../../shared/release/live-release.ts";
import type { Releases } from "../../shared/release/releases.ts";
import type { RunLog } from "../../shared/runlog/run-log.ts";
import type { DeployedRelease } from "./release-request.ts";

export interface KeepPorts {
  readonly log: Pick<RunLog, "keepContract" | "readContract">;
  readonly payloads: PayloadStore;
  readonly releases: Releases;
  readonly clock: Clock;
}

/**
 * Keeps what a deployment runs: each agent's contract and release. Once, however often it is asked.
 * @throws BadRequest for a version that was retired, and for a contract that this code does not have.
 */
export async function keepReleases(
  deployed: readonly DeployedRelease[],
  agents: readonly Agent[],
  ports: KeepPorts,
): Promise<void> {
  for (const release of deployed) await refuseRetired(release, ports);
  for (const { Name, WorkflowVersion, ContractDigest, StateMachineArn } of deployed) {
    await keepContractOf(Name, ContractDigest, agents, ports);
    await ports.releases.keep({
      agent: Name,
      workflow_version: WorkflowVersion,
      contract_digest: ContractDigest,
      state_machine_arn: StateMachineArn,
      released_at: isoTime(ports.clock.nowMs()),
    });
  }
}

async function refuseRetired({ Name, WorkflowVersion }: DeployedRelease, { releases }: KeepPorts): Promise<void> {
  const retired = retirementIn(await releases.list(Name), WorkflowVersion);
  if (!retired) return;
  throw new BadRequest(
    "version_retired",
    `version ${WorkflowVersion} of ${Name} was retired by ${retired.by} at ${retired.at} (${retired.reason}): deploy another version`,
    409,
  );
}

/** A deployment that is rolled back asks for what an earlier one has kept, by whichever code is there. */
async function keepContractOf(name: string, digest: string, agents: readonly Agent[], ports: KeepPorts): Promise<void> {
  const agent = agents.find((candidate) => candidate.name === name);
  if (agent && contractDigest(agent) === digest) {
    await keepContract(agent, ports);
    return;
  }
  if ((await ports.log.readContract(digest)) !== undefined) return;
  const found = agent ? contractDigest(agent) : "no such agent";
  throw new BadRequest(
    "contract_differs",
    `expected the contract ${digest} of ${name} in this code, found ${found}: what was synthesized is not what was bundled; deploy again`,
    409,
  );
}
