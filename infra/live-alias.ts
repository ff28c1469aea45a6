import { RemovalPolicy } from "aws-cdk-lib";
import { CfnStateMachineAlias, CfnStateMachineVersion, type StateMachine } from "aws-cdk-lib/aws-stepfunctions";
import type { Construct } from "constructs";

/**
 * Publishes this deployment's revision of a state machine and points `live` at it. Starting through the alias says in the execution's
 * history which version runs, and pointing it back is a rollback without a deployment. Versions are kept: Step Functions holds 1,000 per
 * machine, so a machine that is deployed daily has room for years.
 * @returns the alias's ARN.
 */
export function liveAlias(scope: Construct, machine: StateMachine): string {
  const version = new CfnStateMachineVersion(scope, "Version", {
    stateMachineArn: machine.stateMachineArn,
    // Another revision replaces the resource, which publishes a version and keeps the one before.
    stateMachineRevisionId: machine.stateMachineRevisionId,
  });
  version.applyRemovalPolicy(RemovalPolicy.RETAIN);
  const alias = new CfnStateMachineAlias(scope, "Live", {
    name: "live",
    routingConfiguration: [{ stateMachineVersionArn: version.attrArn, weight: 100 }],
  });
  return alias.attrArn;
}
