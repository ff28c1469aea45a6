import { CustomResource, Duration } from "aws-cdk-lib";
import { Construct, type IConstruct } from "constructs";
import type { ReleaseProperties } from "../lambdas/release/release-request.ts";
import { manifestDigest } from "../shared/contract/manifest.ts";
import type { DurableAgent } from "./durable-agent.ts";
import type { PlatformFunction } from "./platform-function.ts";

export interface ReleaseRegistryProps {
  /** Carries the stack's agents, whose contracts it keeps. */
  readonly release: PlatformFunction;
  readonly agents: readonly DurableAgent[];
  /** Agents whose open runs somebody gives up. @default none */
  readonly abandonRuns?: readonly string[];
}

/** How long CloudFormation waits for the answer. The function's own time is shorter. */
const answerTimeout = Duration.minutes(5);

/**
 * Has each deployment keep what it runs, and fails one that takes an agent away which has open runs. A custom resource with a function of
 * its own: CDK's provider framework would bring functions and permissions that nobody here reads.
 */
export class ReleaseRegistry extends Construct {
  readonly resource: CustomResource;

  constructor(scope: Construct, id: string, { release, agents, abandonRuns = [] }: ReleaseRegistryProps) {
    super(scope, id);
    const properties: ReleaseProperties = {
      Agents: agents.map(({ compiled: { manifest }, startArn }) => ({
        Name: manifest.workflow_name,
        WorkflowVersion: manifest.workflow_version,
        ContractDigest: manifestDigest(manifest),
        StateMachineArn: startArn,
      })),
      AbandonRuns: [...abandonRuns],
    };
    this.resource = new CustomResource(this, "Resource", {
      resourceType: "Custom::SurefootReleases",
      // By its name, which never changes: by version, each deployment would replace the resource.
      serviceToken: release.function.functionArn,
      serviceTimeout: answerTimeout,
      properties: { ...properties },
    });
  }

  /**
   * After everything else: what is registered is in place, and a stack that may not be deleted is refused before anything of it is, since
   * CloudFormation deletes in the opposite order.
   */
  comesAfter(others: readonly IConstruct[]): void {
    this.resource.node.addDependency(...others);
  }
}
