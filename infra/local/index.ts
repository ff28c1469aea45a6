/** Running agents on this machine. */
export { type LocalRunner, type LocalRunnerOptions, startLocalRunner } from "./local-runner.ts";
export { type RefundWorld, startRefundWorld } from "./refund-world.ts";
export { type DownstreamProcess, startDownstream } from "./downstreams/downstream-process.ts";
