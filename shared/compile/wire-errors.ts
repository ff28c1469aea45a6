/**
 * The error names that cross from Lambda to Step Functions. One table feeds the runtime, which throws them, and the compiler, which
 * writes the Retry and Catch blocks that match them.
 */
export const wireError = {
  /** It did not happen (or only read) and may be tried again within the node's budget. */
  retryable: (node: string) => `surefoot.retryable.${node}`,
  /** The node's own time ran out. A class and a budget of its own. */
  timeout: (node: string) => `surefoot.timeout.${node}`,
  /** The budget of attempts is spent. */
  exhausted: (node: string) => `surefoot.exhausted.${node}`,
  /** It will not work however often. */
  final: (node: string) => `surefoot.final.${node}`,
  /** A write that may have happened: a person resolves it, then the same Task asks the ledger again. */
  unknown: (node: string) => `surefoot.unknown.${node}`,
  /** A write on its way by queue or by a person's hand: the run waits for the ledger. */
  handedOut: (node: string) => `surefoot.handed_out.${node}`,
  /** An approval no longer holds at dispatch: the step that says so is recorded, the run goes back. */
  sentBack: (node: string) => `surefoot.sent_back.${node}`,
  /** The same where it goes elsewhere than the write's first approval leads. */
  sentBackTo: (node: string, target: string) => `surefoot.sent_back.${node}.${target}`,
  /** Nothing was done and no budget is spent: a lease is live, or a server asked for patience. */
  later: "surefoot.later",
  /** The invocation's time is nearly up: the next one goes on from the log. */
  handOver: "surefoot.hand_over",
  /** This execution no longer owns the run. */
  stale: "surefoot.stale",
  /** A node broke off by what nobody classified, e.g. a storage error. It is recorded, and safe to repeat. */
  crashed: "surefoot.crashed",
  /** A function broke off before it could record why: storage, the platform, or a bug here. */
  passing: "surefoot.passing",
  /** A queued write that its worker could not deliver. */
  undeliverable: "surefoot.undeliverable",
  rejected: "surefoot.rejected",
  expired: "surefoot.expired",
} as const;

/**
 * What says that an invocation came to nothing: the process died, or a service had a passing fault. The log makes a
 * repeat harmless. Platform's names from the Lambda and Step Functions error references.
 */
export const platformErrors = [
  "Lambda.ServiceException",
  "Lambda.AWSLambdaException",
  "Lambda.SdkClientException",
  "Lambda.ClientExecutionTimeoutException",
  "Lambda.Unknown",
  "Runtime.ExitError",
  wireError.crashed,
  wireError.passing,
] as const;

/** Nothing was invoked: the account's concurrency was used up. It passes, and costs nothing to wait for. */
export const platformThrottles = ["Lambda.TooManyRequestsException"] as const;

/** The invocation ran past its time. Deterministic more often than not, so the budget is one. */
export const functionTimeout = "Sandbox.Timedout";
export const platformTimeouts = [functionTimeout, "States.Timeout"] as const;
