import { RemovalPolicy } from "aws-cdk-lib";
import { CfnStateMachineAlias, CfnStateMachineVersion, type StateMachine } from "aws-cdk-lib/aws-stepfunctions";
import type { Construct } from "constructs";

/**
 * Publishes this deployment's revision of a state machine. Runs are started on it, and go on with it, whatever is deployed later. Versions
 * are kept: Step Functions holds 1,000 per machine, so a machine that is deployed daily has room for years. The alias `live` points at the
 * newest one for people and for the console; nothing of Surefoot starts through it, because it moves.
 * @returns the version's ARN.
 */
export function publishedVersion(scope: Construct, machine: StateMachine): string {
  const version = new CfnStateMachineVersion(scope, "Version", {
    stateMachineArn: machine.stateMachineArn,
    // Another revision replaces the resource, which publishes a version and keeps the one before.
    stateMachineRevisionId: machine.stateMachineRevisionId,
  });
  version.applyRemovalPolicy(RemovalPolicy.RETAIN);
  new CfnStateMachineAlias(scope, "Live", {
    name: "live",
    routingConfiguration: [{ stateMachineVersionArn: version.attrArn, weight: 100 }],
  });
  return version.attrArn;
}
