import { type Agent, nodeOf } from "../agent/agent.ts";
import type { AgentNode } from "../agent/node.ts";
import { snapshotAttemptsMax } from "../approval/read-snapshot.ts";
import type { Retrier } from "./asl.ts";
import type { Line } from "./lines.ts";
import { functionTimeout, platformErrors, platformThrottles, platformTimeouts, wireError } from "./wire-errors.ts";

/** The one retry owner: every repeat of anything is one of these blocks. */

/** A passing fault of the platform, and processes that die: a repeat reads the log and goes on. Bounded, so a crash loop ends parked. */
const platform: readonly Retrier[] = [
  {
    ErrorEquals: platformErrors,
    IntervalSeconds: 1,
    MaxAttempts: 5,
    BackoffRate: 2,
    MaxDelaySeconds: 30,
    JitterStrategy: "FULL",
  },
  // About half an hour: a burst of other work must not park a healthy run.
  {
    ErrorEquals: platformThrottles,
    IntervalSeconds: 2,
    MaxAttempts: 35,
    BackoffRate: 2,
    MaxDelaySeconds: 60,
    JitterStrategy: "FULL",
  },
  // A timeout is usually not chance: one more invocation reads the log and goes on, reconciles what was started, or times out for good.
  { ErrorEquals: platformTimeouts, IntervalSeconds: 1, MaxAttempts: 1 },
];

/** For functions without agent code, each safe to repeat. */
export const genericRetry: readonly Retrier[] = [
  ...platform.slice(0, 2),
  // Not `States.Timeout`: for a state that waits, that is the end of its time.
  { ErrorEquals: [functionTimeout], IntervalSeconds: 1, MaxAttempts: 1 },
];

/** Coming back to a live lease, a settle time or a `retry-after`: about two hours in all, then the run is parked. */
const later: Retrier = {
  ErrorEquals: [wireError.later],
  IntervalSeconds: 1,
  MaxAttempts: 130,
  BackoffRate: 1.5,
  MaxDelaySeconds: 60,
};

/** Straight lines longer than one invocation. Each hand-over makes progress of at least one node, so a run's own step limit bounds it. */
const handOver: Retrier = { ErrorEquals: [wireError.handOver], IntervalSeconds: 1, MaxAttempts: 1_000, BackoffRate: 1 };

/** Retry blocks of a line: per node and failure class, then the platform's. Error names never overlap, so order does not matter. */
export const retryOfLine = (agent: Agent, line: Line): readonly Retrier[] =>
  retryOfNodes(line.nodes.map((name) => nodeOf(agent, name)));

export const retryOfNodes = (nodes: readonly AgentNode[]): readonly Retrier[] => [
  ...nodes.flatMap(retryOfNode),
  later,
  handOver,
  ...platform,
];

function retryOfNode(node: AgentNode): readonly Retrier[] {
  switch (node.kind) {
    case "model":
      return attempts(node.name, node.attemptsMax, 2, 30);
    case "read":
      return attempts(node.name, node.tool.attemptsMax, 2, 60);
    case "write":
      // Only what the ledger found safe comes back under this name. No entry for timeouts: a write's timeout is a doubt.
      return retryable(node.name, node.tool.attemptsMax, 2, 60);
    case "approval":
      return node.snapshot ? retryable(node.name, snapshotAttemptsMax, 2, 30) : [];
    case "compute":
    case "route":
      return [];
    default:
      return node satisfies never;
  }
}

const attempts = (
  node: string,
  attemptsMax: number,
  backoffRate: number,
  maxDelaySeconds: number,
): readonly Retrier[] => [
  ...retryable(node, attemptsMax, backoffRate, maxDelaySeconds),
  // A budget of its own, but a node that may be asked once is asked once.
  ...(attemptsMax > 1 ? [{ ErrorEquals: [wireError.timeout(node)], IntervalSeconds: 1, MaxAttempts: 1 }] : []),
];

const retryable = (
  node: string,
  attemptsMax: number,
  backoffRate: number,
  maxDelaySeconds: number,
): readonly Retrier[] =>
  attemptsMax > 1
    ? [
        {
          ErrorEquals: [wireError.retryable(node)],
          IntervalSeconds: 1,
          MaxAttempts: attemptsMax - 1,
          BackoffRate: backoffRate,
          MaxDelaySeconds: maxDelaySeconds,
          JitterStrategy: "FULL",
        },
      ]
    : [];
