import { ServiceError } from "./service-error.ts";

const PREFIX = "arn:aws:states:us-east-1:000000000000";

/** The role that no local call ever assumes; the API's shapes require one. */
export const LOCAL_ROLE_ARN = "arn:aws:iam::000000000000:role/local-step-functions";

export function stateMachineArn(name: string): string {
  return `${PREFIX}:stateMachine:${name}`;
}

export function executionArn(machineName: string, executionName: string): string {
  return `${PREFIX}:execution:${machineName}:${executionName}`;
}

/** @throws ServiceError `InvalidArn` where the text cannot be an ARN of that kind at all. */
export function checkArn(kind: "stateMachine" | "execution", arn: string): void {
  if (!arn.startsWith("arn:") || !arn.includes(`:states:`) || !arn.includes(`:${kind}:`)) {
    throw new ServiceError("InvalidArn", `Invalid Arn: expected ${PREFIX}:${kind}:…, found '${arn}'`);
  }
}

/** Characters that the API reference forbids in the names of state machines and executions. */
const FORBIDDEN = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\u0000-\u001f\u007f-\u009f]/;

/** @throws ServiceError `InvalidName` */
export function checkName(name: string): void {
  if (name.length < 1 || name.length > 80 || FORBIDDEN.test(name)) {
    throw new ServiceError(
      "InvalidName",
      `Invalid Name: expected 1 to 80 characters without spaces, brackets or special characters, found '${name}'`,
    );
  }
}
