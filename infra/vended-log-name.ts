import { Names } from "aws-cdk-lib";
import type { Construct } from "constructs";

/**
 * Name for a log group that a service writes to. Under `/aws/vendedlogs/` one policy covers them all; elsewhere each group adds to a
 * policy of at most 5,120 characters, and past it creating a state machine fails. Holds the stack's name, so stages do not collide.
 */
export const vendedLogName = (owner: Construct, service: "states" | "apigateway"): string =>
  `/aws/vendedlogs/${service}/${Names.uniqueResourceName(owner, { separator: "-", maxLength: 200 })}`;
